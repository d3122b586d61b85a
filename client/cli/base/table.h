// table.h - aligned columns of plain text, the one way commands print lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinew::cli {

class Table {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One row; missing cells are empty, further ones are dropped. Cells are made Printable.
  void Add(std::vector<std::string> cells);

  std::size_t rows() const { return rows_.size(); }

  // Title line and rows, two blanks between columns, none at the end of a line; the last column is
  // never padded.
  std::string Text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sinew::cli
