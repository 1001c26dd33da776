#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gemmtune::cli {

// Texts that have most of their lines in common, as sources of kernels do, each as runs of lines of
// one list.
class SharedLines {
 public:
  // The first line in lines(), and how many follow each other there.
  using Run = std::pair<size_t, size_t>;

  // The runs that make up `text`, put together with line feeds. Lines that nothing so far has in
  // such an order are added.
  std::vector<Run> add(std::string_view text);

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  Run longest_run(const std::vector<std::string_view>& text, size_t begin) const;
  void append(std::string_view line);

  std::vector<std::string> lines_;
  std::unordered_map<std::string, std::vector<size_t>> places_;  // of a line, in lines_
};

}  // namespace gemmtune::cli
