#include "client/cli/base/table.h"

#include <algorithm>

#include "client/cli/base/printable.h"

namespace sinew::cli {

void Table::Add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = Columns(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, Columns(row[c]));
    widths.push_back(width);
  }
  std::string text;
  const auto append = [&](std::size_t c, const std::string& cell, std::string& line) {
    const std::string padding(widths[c] - Columns(cell), ' ');
    line += (c == 0 ? "" : "  ");
    line += columns_[c].align == Align::kRight ? padding + cell : cell + padding;
  };
  const auto finish = [&](std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  std::string line;
  for (std::size_t c = 0; c < columns_.size(); ++c) append(c, columns_[c].title, line);
  finish(line);
  for (const auto& row : rows_) {
    line.clear();
    for (std::size_t c = 0; c < columns_.size(); ++c) append(c, row[c], line);
    finish(line);
  }
  return text;
}

}  // namespace sinew::cli
