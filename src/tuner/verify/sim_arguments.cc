#include "tuner/verify/sim_arguments.h"

#include <cstdint>

#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::tuner {
namespace {

gpu::Result<EncodedTensorMap> simulated_map(const TensorMapConfig& config, const void* address) {
  return ptxsim::encode({reinterpret_cast<uintptr_t>(address), config});
}

}  // namespace

Expected<ptxsim::Arguments> simulated_arguments(const codegen::KernelLaunch& launch,
                                                const Problem& problem, bool device_scalars,
                                                const launch::Operands& operands) {
  launch::ParameterBlock block;
  auto packed = launch::pack_arguments(launch.arguments, problem, device_scalars, operands,
                                       simulated_map, block);
  if (!packed) return tl::unexpected(packed.error());
  ptxsim::Arguments arguments;
  for (size_t i = 0; i < block.parameters(); ++i) {
    const auto bytes = block.parameter(i);
    arguments.emplace_back(bytes.begin(), bytes.end());
  }
  return arguments;
}

}  // namespace gemmtune::tuner
