#pragma once

#include <string>
#include <vector>

namespace gemmtune::cli {

// A text table with aligned columns, two spaces apart.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns. They are shown in one line: visible_line().
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Title line and rows, each ended by a newline, without blanks at the end.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

inline constexpr auto kRight = Table::Align::right;

}  // namespace gemmtune::cli
