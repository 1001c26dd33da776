#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "codegen/kernel_spec.h"
#include "codegen/launch_plan.h"
#include "core/tensor_map.h"
#include "gpu/cuda_error.h"

namespace gemmtune::launch {

// Operand addresses of one product, its scalars, and the workspace that the plan asks for.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;      // of a problem that has one
  const float* scale_a = nullptr;  // device addresses, of a problem whose operands are scaled
  const float* scale_b = nullptr;
  void* workspace = nullptr;
  float alpha = 1;
  float beta = 0;
  // In place of the two above where KernelSpec::device_scalars is set: read by the kernels.
  const float* alpha_device = nullptr;
  const float* beta_device = nullptr;
};

// A kernel's parameters, each at its natural alignment.
class ParameterBlock {
 public:
  ParameterBlock() = default;
  ParameterBlock(const ParameterBlock&) = delete;
  ParameterBlock& operator=(const ParameterBlock&) = delete;

  static constexpr size_t kMostParameters = 8;
  static constexpr size_t kMostBytes = 1024;

  // Throws std::logic_error for more than the block holds.
  void add(std::span<const std::byte> value, size_t alignment);
  void clear() { size_ = count_ = 0; }

  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }
  size_t parameters() const { return count_; }
  std::span<const std::byte> parameter(size_t index) const;
  // Where each lies, as long as the block is not filled anew.
  std::span<void* const> addresses() const { return std::span(addresses_).first(count_); }

 private:
  struct Place {
    size_t offset;
    size_t size;
  };

  alignas(64) std::array<std::byte, kMostBytes> bytes_;
  std::array<Place, kMostParameters> places_;
  std::array<void*, kMostParameters> addresses_;
  size_t size_ = 0;
  size_t count_ = 0;
};

// Encodes the map of a tensor at an address, for whoever runs the kernel.
using TensorMapEncoder =
    std::function<gpu::Result<EncodedTensorMap>(const TensorMapConfig&, const void* address)>;

// Fills `block` with what a launch of a product takes. `problem` is canonical; `encode` is called
// for tensor maps only, and its error returned.
gpu::Result<void> pack_arguments(std::span<const codegen::KernelArgument> arguments,
                                 const Problem& problem, bool device_scalars,
                                 const Operands& operands, const TensorMapEncoder& encode,
                                 ParameterBlock& block);

}  // namespace gemmtune::launch
