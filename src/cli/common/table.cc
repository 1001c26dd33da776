#include "cli/common/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/print.h"

namespace gemmtune::cli {

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = visible_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  std::vector<std::string> titles;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, row[i].size());
    widths.push_back(width);
    titles.push_back(columns_[i].title);
  }
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      const bool right = columns_[i].align == Align::right;
      line += right ? fmt::format("{:>{}}", cells[i], widths[i])
                    : fmt::format("{:<{}}", cells[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace gemmtune::cli
