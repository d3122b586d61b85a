// table.h - rows of facts, printed as aligned columns of text or as JSON: the one way commands
// print lists.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/base/quantity.h"

namespace sinew::cli {

// A value in both forms. Text stands left, numbers and null ("-", not known) right.
class Cell {
 public:
  Cell() = default;  // no value: empty text, and no member in JSON
  Cell(const char* text) : Cell(std::string(text)) {}
  Cell(const std::string& text) : Cell(text, text) {}
  template <std::unsigned_integral T>
  Cell(T count) : Cell(count, bake::CountText(count)) {}  // "12,345"
  Cell(nlohmann::ordered_json value, std::string text)
      : value_(std::move(value)), text_(std::move(text)) {}

 private:
  friend class Table;
  nlohmann::ordered_json value_ = nlohmann::ordered_json::value_t::discarded;
  std::string text_;
};

class Table {
 public:
  struct Column {
    std::string title;     // in text; without one only JSON has the column
    std::string key = {};  // in JSON; without one only text has the column
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One row; missing cells are empty, further ones are dropped.
  void Add(std::vector<Cell> cells);

  std::size_t rows() const { return rows_.size(); }

  // Title line and rows, made Printable; two blanks between columns, none at the end of a line. The
  // last column is never padded.
  std::string Text() const;

  // An array of an object for each row.
  nlohmann::ordered_json Json() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace sinew::cli
