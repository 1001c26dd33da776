#include "cli/tune/report/shared_lines.h"

#include <algorithm>

namespace gemmtune::cli {
namespace {

// Of a line that stands in many places: more take longer than they save.
constexpr size_t kMostPlaces = 64;
// That are worth a run: with shorter ones a text's own lines would not follow each other.
constexpr size_t kFewestLines = 4;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0;;) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return lines;
    begin = end + 1;
  }
}

// Adds a run, to the last one where that ends before it.
void join(std::vector<SharedLines::Run>& runs, const SharedLines::Run& next) {
  if (!runs.empty() && runs.back().first + runs.back().second == next.first) {
    runs.back().second += next.second;
  } else {
    runs.push_back(next);
  }
}

}  // namespace

std::vector<SharedLines::Run> SharedLines::add(std::string_view text) {
  const std::vector<std::string_view> wanted = lines_of(text);
  std::vector<Run> runs;
  for (size_t at = 0; at < wanted.size();) {
    Run run = longest_run(wanted, at);
    if (run.second < kFewestLines) {
      run = {lines_.size(), 1};
      append(wanted[at]);
    }
    join(runs, run);
    at += run.second;
  }
  return runs;
}

SharedLines::Run SharedLines::longest_run(const std::vector<std::string_view>& text,
                                          size_t begin) const {
  const auto found = places_.find(std::string(text[begin]));
  if (found == places_.end()) return {};
  Run longest = {};
  const std::vector<size_t>& places = found->second;
  for (size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i) {
    size_t count = 0;
    while (begin + count < text.size() && places[i] + count < lines_.size() &&
           lines_[places[i] + count] == text[begin + count])
      ++count;
    if (count > longest.second) longest = {places[i], count};
  }
  return longest;
}

void SharedLines::append(std::string_view line) {
  places_[std::string(line)].push_back(lines_.size());
  lines_.emplace_back(line);
}

}  // namespace gemmtune::cli
