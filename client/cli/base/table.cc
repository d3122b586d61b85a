#include "client/cli/base/table.h"

#include <algorithm>

#include "client/cli/base/printable.h"

namespace sinew::cli {

void Table::Add(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  for (Cell& cell : cells) cell.text_ = Printable(cell.text_);
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  std::vector<std::string> lines(rows_.size() + 1);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::string& title = columns_[c].title;
    if (title.empty()) continue;
    std::size_t width = Columns(title);
    bool numbers = true;
    for (const auto& row : rows_) {
      width = std::max(width, Columns(row[c].text_));
      numbers &= row[c].value_.is_number() || row[c].value_.is_null();
    }
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const std::string& text = k == 0 ? title : rows_[k - 1][c].text_;
      const std::string padding(width - Columns(text), ' ');
      lines[k] += (lines[k].empty() ? "" : "  ") + (numbers ? padding + text : text + padding);
    }
  }
  std::string all;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  }
  return all;
}

nlohmann::ordered_json Table::Json() const {
  auto rows = nlohmann::ordered_json::array();
  for (const std::vector<Cell>& cells : rows_) {
    auto row = nlohmann::ordered_json::object();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& key = columns_[c].key;
      if (!key.empty() && !cells[c].value_.is_discarded()) row[key] = cells[c].value_;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sinew::cli
