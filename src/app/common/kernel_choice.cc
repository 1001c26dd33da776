#include "app/common/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "codegen/strategy.h"
#include "tuner/search/ranked_space.h"

namespace gemmtune::app {

Expected<codegen::KernelSpec> parse_kernel(std::string_view strategy_name, std::string_view text,
                                           const Problem& problem, Arch arch) {
  auto strategy = codegen::find_strategy(strategy_name);
  if (!strategy) return tl::unexpected(strategy.error());
  if (auto supported = (*strategy)->supports(problem, arch); !supported)
    return tl::unexpected(supported.error());
  const auto tile = codegen::read_tile(**strategy, text);
  if (!tile) return tl::unexpected(tile.error());
  const codegen::KernelSpec spec = codegen::spec_for(**strategy, *tile, problem, arch);
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device(arch));
  if (broken != nullptr) {
    return usage_error(fmt::format("tile '{}' is illegal for {}: {} ({})", text, strategy_name,
                                   broken->name, broken->reason));
  }
  return spec;
}

Expected<codegen::KernelSpec> model_kernel(std::string_view strategy_name, const Problem& problem,
                                           const Target& target) {
  auto strategy = codegen::find_strategy(strategy_name);
  if (!strategy) return tl::unexpected(strategy.error());
  if (auto supported = (*strategy)->supports(problem, target.arch); !supported)
    return tl::unexpected(supported.error());
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return tuner::best_by_model(**strategy, problem, target.limits, threads);
}

}  // namespace gemmtune::app
