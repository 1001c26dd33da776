#include "app/tune/shard.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace gemmtune::app {
namespace {

// All of it, decimal, at least 1.
std::optional<int> parse_count(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stopped != end || value < 1) return std::nullopt;
  return value;
}

}  // namespace

Expected<Shard> parse_shard(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto number = parse_count(text.substr(0, slash));
    const auto count = parse_count(text.substr(slash + 1));
    if (number && count && *number <= *count) return Shard{*number, *count};
  }
  return usage_error(fmt::format(
      "--shard: '{}' is no shard; write 1/8 for the first of eight, 8/8 for the last", text));
}

Expected<std::vector<WantedProblem>> take_shard(std::vector<WantedProblem> all,
                                                const Shard& shard) {
  const auto count = static_cast<size_t>(shard.count);
  if (count > all.size()) {
    return usage_error(fmt::format("--shard: {} problems make at most {} shards, not {}",
                                   all.size(), all.size(), shard.count));
  }
  std::vector<WantedProblem> taken;
  for (size_t i = static_cast<size_t>(shard.number) - 1; i < all.size(); i += count)
    taken.push_back(std::move(all[i]));
  return taken;
}

}  // namespace gemmtune::app
