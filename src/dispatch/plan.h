#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dispatch/decision.h"
#include "dispatch/failure.h"
#include "launch/loaded_kernel.h"
#include "vendor/cublaslt.h"

namespace gemmtune::dispatch {

// Addresses and scalars of one product, as the problem (not its caller) names the operands.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const float* alpha = nullptr;  // host or device memory, as the plan was made for
  const float* beta = nullptr;
  void* workspace = nullptr;
  const void* bias = nullptr;      // null where the problem has none
  const float* scale_a = nullptr;  // device addresses, likewise
  const float* scale_b = nullptr;
};

// For a caller whose A is the problem's B.
inline void exchange(Operands& operands) {
  std::swap(operands.a, operands.b);
  std::swap(operands.scale_a, operands.scale_b);
}

// The bits that are set in any of the three addresses: they are multiples of a power of two where
// this is.
inline uintptr_t address_bits(const Operands& operands) {
  const auto bits = [](const void* address) { return reinterpret_cast<uintptr_t>(address); };
  return bits(operands.a) | bits(operands.b) | bits(operands.c);
}

// A request that is ready to run. Immutable: any thread may enqueue it.
class Plan {
 public:
  // Enqueues the product; the context must be current. Allocates nothing, unless it fails.
  tl::expected<void, launch::EnqueueError> enqueue(const Operands& operands, CUstream stream) const;

  int64_t workspace_bytes() const { return workspace_bytes_; }
  // What the three addresses must be multiples of.
  uintptr_t align_bytes() const { return align_bytes_; }
  // What cuBLASLt computes by the algorithm that its heuristic names first.
  bool is_vendor_default() const { return vendor_ != nullptr && algorithm_ == 0; }
  // Of an element of C and of the bias.
  uintptr_t result_bytes() const { return result_bytes_; }
  bool has_bias() const { return bias_align_bytes_ != 0; }
  // What the address of a bias must be a multiple of for this plan; 0 if there is none.
  uintptr_t bias_align_bytes() const { return bias_align_bytes_; }
  bool has_scales() const { return scale_align_bytes_ != 0; }
  // What the addresses of scales must be multiples of; 0 if there are none.
  uintptr_t scale_align_bytes() const { return scale_align_bytes_; }
  // Whether alpha and beta are in host memory and have to be whole numbers.
  bool has_whole_scalars() const { return has_whole_scalars_; }

  // How it came about, and which of the choices it is.
  const Decision& decision() const { return decision_; }
  size_t chosen_index() const { return chosen_; }

 private:
  friend class Planner;

  std::optional<launch::BoundKernel> kernel_;
  std::shared_ptr<const vendor::MatmulPlan> vendor_;  // where there is no kernel
  int algorithm_ = 0;                                 // of vendor_
  std::unique_ptr<const Plan> reading_c_;             // where beta is not 0; null: this one
  bool device_scalars_ = false;
  int64_t workspace_bytes_ = 0;
  uintptr_t align_bytes_ = 1;
  uintptr_t result_bytes_ = 1;
  uintptr_t bias_align_bytes_ = 0;
  uintptr_t scale_align_bytes_ = 0;
  bool has_whole_scalars_ = false;
  Decision decision_;
  size_t chosen_ = 0;
};

class KernelLoader;
class VendorAccess;

// Turns decisions into plans: takes the first choice that can be had. Thread-safe; refers to what
// it is made of.
class Planner {
 public:
  Planner(KernelLoader& kernels, VendorAccess& vendor, int64_t max_workspace_bytes)
      : kernels_(kernels), vendor_(vendor), max_workspace_bytes_(max_workspace_bytes) {}

  // NO_KERNEL if none of the choices can be had: the message says why for each. CUDA and
  // OUT_OF_MEMORY may not happen again. `reading_c`, for scalars on the host, is for calls whose
  // beta is not 0; where nothing comes of it, they are as others.
  Outcome<std::unique_ptr<const Plan>> make(const Request& request, Decision decision,
                                            std::optional<Decision> reading_c = {}) const;

 private:
  Outcome<std::unique_ptr<Plan>> make_one(const Request& request, Decision decision) const;
  // To the plan of a kernel; nothing where the same kernel comes of it.
  void add_reading_c(const Request& request, Decision decision, Plan& plan) const;
  Outcome<void> realise(const Request& request, Choice& choice, Plan& plan) const;

  KernelLoader& kernels_;
  VendorAccess& vendor_;
  int64_t max_workspace_bytes_;
};

}  // namespace gemmtune::dispatch
