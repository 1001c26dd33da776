#include <array>

#include "codegen/strategies/double_buffer.h"
#include "codegen/strategies/multistage.h"
#include "codegen/strategy.h"
#include "core/names.h"

namespace gemmtune::codegen {

std::span<const Strategy* const> strategies() {
  static const std::array<const Strategy*, 2> kAll = {
      &double_buffer(),
      &multistage(),
  };
  return kAll;
}

Expected<const Strategy*> find_strategy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy* strategy : strategies()) {
    if (strategy->name() == name) return strategy;
    names.push_back(strategy->name());
  }
  return usage_error(unknown_name_message("strategy", name, names));
}

const Rule* broken_rule(const KernelSpec& spec, const DeviceSpec& device) {
  for (const Rule& rule : spec.strategy->rules()) {
    if (!rule.holds({spec, device})) return &rule;
  }
  return nullptr;
}

}  // namespace gemmtune::codegen
