#include "codegen/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "codegen/json_file.h"
#include "core/names.h"
#include "embedded/space_files.h"

namespace gemmtune::codegen {
namespace {

using nlohmann::json;

Expected<std::vector<int>> parse_values(const json& list, const std::string& where) {
  if (!list.is_array()) return usage_error(where + " must be a list of whole numbers");
  if (list.empty()) return usage_error(where + " is an empty list; give at least one value");
  std::vector<int> values;
  for (const json& item : list) {
    if (!item.is_number_integer() || item.get<int64_t>() < 0 || item.get<int64_t>() > 65536) {
      return usage_error(where + " holds " + item.dump() +
                         "; whole numbers in 0..65536 are needed");
    }
    const int value = item.get<int>();
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      return usage_error(where + " holds " + item.dump() + " twice");
    }
    values.push_back(value);
  }
  return values;
}

Expected<SearchSpace> parse_document(const json& document, const std::string& file) {
  if (!document.is_object()) return usage_error(file + " must hold a JSON object");
  for (const auto& [key, value] : document.items()) {
    constexpr std::string_view kKeys[] = {"strategy", "about", "values"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      return usage_error(file + ": " + unknown_name_message("key", key, kKeys));
    }
  }
  if (!document.contains("strategy") || !document["strategy"].is_string()) {
    return usage_error(file + ": key 'strategy' must name a strategy");
  }
  auto strategy = find_strategy(document["strategy"].get<std::string>());
  if (!strategy) return usage_error(file + ": key 'strategy': " + strategy.error().message);
  if (!document.contains("values") || !document["values"].is_object()) {
    return usage_error(file + ": key 'values' must be an object of lists");
  }
  const json& lists = document["values"];
  const auto names = (*strategy)->parameters();
  for (const auto& [key, value] : lists.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return usage_error(file + ": key 'values': " + unknown_name_message("parameter", key, names));
    }
  }
  SearchSpace space{*strategy, {}, {}};
  for (const std::string_view name : names) {
    const std::string where = fmt::format("{}: key 'values.{}'", file, name);
    if (!lists.contains(name)) return usage_error(where + " is missing");
    auto values = parse_values(lists[std::string(name)], where);
    if (!values) return tl::unexpected(values.error());
    space.values.push_back(std::move(*values));
    space.members.push_back(find_tile_field(name)->member);
  }
  return space;
}

}  // namespace

int64_t SearchSpace::size() const {
  int64_t product = 1;
  for (const auto& list : values) product *= static_cast<int64_t>(list.size());
  return product;
}

TileConfig SearchSpace::at(int64_t index) const {
  TileConfig tile;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto count = static_cast<int64_t>(values[i].size());
    tile.*members[i] = values[i][static_cast<size_t>(index % count)];
    index /= count;
  }
  return tile;
}

bool SearchSpace::holds(const TileConfig& tile) const {
  TileConfig named;
  for (size_t i = 0; i < values.size(); ++i) {
    const int value = tile.*members[i];
    if (std::find(values[i].begin(), values[i].end(), value) == values[i].end()) return false;
    named.*members[i] = value;
  }
  return named == tile;
}

Expected<SearchSpace> parse_search_space(std::string_view text, std::string_view file_name) {
  const std::string file(file_name);
  auto document = parse_json(text, file);
  if (!document) return tl::unexpected(document.error());
  return parse_document(*document, file);
}

Expected<SearchSpace> default_search_space(const Strategy& strategy) {
  const std::string path = std::string(strategy.name()) + ".json";
  for (const embedded::File& file : embedded::space_files()) {
    if (file.path == path) return parse_search_space(file.text, "configs/spaces/" + path);
  }
  return make_error(ErrorKind::not_found,
                    "no search space for strategy " + std::string(strategy.name()));
}

Expected<SearchSpace> load_search_space(const std::string& path) {
  auto text = read_text_file(path, "space file");
  if (!text) return tl::unexpected(text.error());
  return parse_search_space(*text, path);
}

Enumeration enumerate(const SearchSpace& space, const Problem& problem, const DeviceSpec& device) {
  Enumeration result;
  for (const Rule& rule : space.strategy->rules()) result.refused.push_back({&rule, 0});
  const int64_t size = space.size();
  KernelSpec spec = spec_for(*space.strategy, {}, problem, device.arch);
  for (int64_t i = 0; i < size; ++i) {
    spec.tile = space.at(i);
    const Rule* broken = broken_rule(spec, device);
    if (broken == nullptr) {
      result.legal.push_back(spec.tile);
      continue;
    }
    for (RuleCount& count : result.refused) count.refused += count.rule == broken ? 1 : 0;
  }
  std::erase_if(result.refused, [](const RuleCount& count) { return count.refused == 0; });
  return result;
}

std::vector<TileConfig> sample_legal(const SearchSpace& space, const Problem& problem,
                                     const DeviceSpec& device, size_t most,
                                     std::mt19937_64& random) {
  constexpr int64_t kFewPoints = int64_t{1} << 17;  // are all looked at
  constexpr int kMostDraws = 1 << 20;
  const int64_t size = space.size();
  if (size <= kFewPoints) {
    auto legal = enumerate(space, problem, device).legal;
    std::shuffle(legal.begin(), legal.end(), random);
    legal.resize(std::min(legal.size(), most));
    return legal;
  }
  std::vector<TileConfig> drawn;
  std::unordered_set<int64_t> seen;
  std::uniform_int_distribution<int64_t> any(0, size - 1);
  KernelSpec spec = spec_for(*space.strategy, {}, problem, device.arch);
  for (int i = 0; i < kMostDraws && drawn.size() < most; ++i) {
    const int64_t index = any(random);
    if (!seen.insert(index).second) continue;
    spec.tile = space.at(index);
    if (broken_rule(spec, device) == nullptr) drawn.push_back(spec.tile);
  }
  return drawn;
}

}  // namespace gemmtune::codegen
