#include "cli/kernel_options.h"

#include <fmt/format.h>

#include "codegen/strategy.h"

namespace gemmtune::cli {

Expected<codegen::KernelSpec> parse_kernel(std::string_view strategy_name, std::string_view text,
                                           const Problem& problem, Arch arch) {
  auto strategy = codegen::find_strategy(strategy_name);
  if (!strategy) return tl::unexpected(strategy.error());
  if (auto supported = (*strategy)->supports(problem, arch); !supported)
    return tl::unexpected(supported.error());
  const auto tile = parse_tile(text);
  if (!tile) {
    std::string names;
    for (const std::string_view name : (*strategy)->parameters())
      names += fmt::format("{}{}", names.empty() ? "" : " ", name);
    return usage_error(fmt::format(
        "tile '{}': name=number, separated by blanks, with names from: {}", text, names));
  }
  const codegen::KernelSpec spec = codegen::spec_for(**strategy, *tile, problem);
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device(arch));
  if (broken != nullptr) {
    return usage_error(fmt::format("tile '{}' is illegal for {}: {} ({})", text, strategy_name,
                                   broken->name, broken->reason));
  }
  return spec;
}

}  // namespace gemmtune::cli
