#pragma once

#include <string_view>

#include "app/common/target.h"
#include "codegen/kernel_spec.h"
#include "codegen/strategy.h"
#include "core/arch.h"
#include "core/error.h"
#include "core/problem.h"

namespace gemmtune::app {

// Whether the strategy computes the problem; the error names the strategy.
Expected<void> check_supported(const codegen::Strategy& strategy, const Problem& problem,
                               Arch arch);

// The kernel that a user names by strategy and tile ("tile_m=128 tile_n=128 ..."), for a canonical
// problem and the limits of `arch`'s representative device. Usage error, naming the rule, if it is
// illegal; unsupported if the strategy does not compute the problem.
Expected<codegen::KernelSpec> parse_kernel(std::string_view strategy, std::string_view tile,
                                           const Problem& problem, Arch arch);

// The kernel of the strategy with the tile that the performance model ranks first for the target.
Expected<codegen::KernelSpec> model_kernel(std::string_view strategy, const Problem& problem,
                                           const Target& target);

}  // namespace gemmtune::app
