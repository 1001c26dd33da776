#include "codegen/registry.h"

#include <algorithm>

#include "core/names.h"

namespace gemmtune::codegen {

std::span<const Strategy* const> strategies() {
#define GEMMTUNE_STRATEGY_ADDRESS(name) &name(),
  static const Strategy* const all[] = {GEMMTUNE_STRATEGIES(GEMMTUNE_STRATEGY_ADDRESS)};
#undef GEMMTUNE_STRATEGY_ADDRESS
  return all;
}

Expected<const Strategy*> find_strategy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy* strategy : strategies()) {
    if (strategy->name() == name) return strategy;
    names.push_back(strategy->name());
  }
  return usage_error(unknown_name_message("strategy", name, names));
}

bool has_parameter(const Strategy& strategy, std::string_view parameter) {
  const auto names = strategy.parameters();
  return std::find(names.begin(), names.end(), parameter) != names.end();
}

const Rule* broken_rule(const KernelSpec& spec, const DeviceSpec& device) {
  for (const Rule& rule : spec.strategy->rules()) {
    if (!rule.holds({spec, device})) return &rule;
  }
  return nullptr;
}

KernelSpec fetching_c(const KernelSpec& spec, const DeviceSpec& device) {
  KernelSpec fetching = spec;
  fetching.traits.fetches_c = spec.strategy->fetches_c();
  return broken_rule(fetching, device) == nullptr ? fetching : spec;
}

}  // namespace gemmtune::codegen
