#include "app/common/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "core/names.h"
#include "tuner/search/ranked_space.h"

namespace gemmtune::app {
namespace {

// Parameters that have a value in every tile of the strategy's space, and none in `tile`.
std::vector<std::string_view> missing_parameters(const codegen::Strategy& strategy,
                                                 const TileConfig& tile) {
  std::vector<std::string_view> missing;
  const auto space = codegen::default_search_space(strategy);
  if (!space) return missing;
  for (size_t i = 0; i < space->members.size(); ++i) {
    const std::vector<int>& values = space->values[i];
    const bool may_be_0 = std::find(values.begin(), values.end(), 0) != values.end();
    if (tile.*(space->members[i]) == 0 && !may_be_0) missing.push_back(strategy.parameters()[i]);
  }
  return missing;
}

}  // namespace

Expected<void> check_supported(const codegen::Strategy& strategy, const Problem& problem,
                               Arch arch) {
  const auto supported = strategy.supports(problem, arch);
  if (supported) return {};
  return make_error(supported.error().kind,
                    fmt::format("{} {}", strategy.name(), supported.error().message));
}

Expected<codegen::KernelSpec> parse_kernel(std::string_view strategy_name, std::string_view text,
                                           const Problem& problem, Arch arch) {
  auto strategy = codegen::find_strategy(strategy_name);
  if (!strategy) return tl::unexpected(strategy.error());
  if (auto supported = check_supported(**strategy, problem, arch); !supported)
    return tl::unexpected(supported.error());
  const auto tile = codegen::read_tile(**strategy, text);
  if (!tile) return tl::unexpected(tile.error());
  const codegen::KernelSpec spec = codegen::spec_for(**strategy, *tile, problem, arch);
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device(arch));
  if (broken == nullptr) return spec;
  const auto missing = missing_parameters(**strategy, *tile);
  return usage_error(fmt::format("tile {} is illegal for {}: {} ({}){}", in_quotes(text),
                                 strategy_name, broken->name, broken->reason,
                                 missing.empty() ? "" : "; without a value: " + join(missing)));
}

Expected<codegen::KernelSpec> model_kernel(std::string_view strategy_name, const Problem& problem,
                                           const Target& target) {
  auto strategy = codegen::find_strategy(strategy_name);
  if (!strategy) return tl::unexpected(strategy.error());
  if (auto supported = check_supported(**strategy, problem, target.arch); !supported)
    return tl::unexpected(supported.error());
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return tuner::best_by_model(**strategy, problem, target.limits, threads);
}

}  // namespace gemmtune::app
