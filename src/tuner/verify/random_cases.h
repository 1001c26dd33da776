#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <vector>

#include "codegen/search_space.h"
#include "core/device.h"
#include "tuner/verify/verification_case.h"

namespace gemmtune::tuner {

// Draws a kernel of the space's strategy that is legal on the device: types, math mode, layout,
// alignments, epilogue and tile. Nothing if none was met, as where the strategy does not run there.
std::optional<codegen::KernelSpec> random_kernel(const codegen::SearchSpace& space,
                                                 const DeviceSpec& device, std::mt19937_64& random);

// Draws `count` problems for a kernel: sizes from 1 to `scale` times ragged_sizes() of its tile,
// leading dimensions, batches, alpha, beta, values and the place of the bias. k goes further where
// blocks share it out.
std::vector<VerificationCase> random_cases(const codegen::KernelSpec& spec, int scale, size_t count,
                                           std::mt19937_64& random);

}  // namespace gemmtune::tuner
