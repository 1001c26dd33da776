#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/device.h"
#include "core/problem.h"
#include "gpu/context.h"
#include "gpu/memory.h"
#include "gpu/stream.h"
#include "jit/compiler.h"
#include "launch/loaded_kernel.h"

namespace gemmtune::tuner {

// How many copies of a problem's operands a benchmark walks through.
struct SetPlan {
  int64_t sets = 0;
  int64_t bytes_a = 0;  // of one set, padded to whole cache lines
  int64_t bytes_b = 0;
  int64_t bytes_c = 0;
  int64_t bytes_bias = 0;
  int64_t bytes_scale_a = 0;
  int64_t bytes_scale_b = 0;
  // The others lie in memory of their own.
  int64_t matrix_bytes() const { return bytes_a + bytes_b + bytes_c; }
  int64_t scale_bytes() const { return bytes_scale_a + bytes_scale_b; }
  int64_t set_bytes() const { return matrix_bytes() + bytes_bias + scale_bytes(); }
  int64_t total_bytes() const { return sets * set_bytes(); }
};

// Cold: so many sets that a walk over all of them touches at least twice the L2, so that operands
// come from memory whenever a set is used again (at most kMaxSets, so problems below about 100 KB
// stay partly cached). Warm: one set.
inline constexpr int64_t kMaxSets = 1024;
SetPlan plan_sets(const Problem& problem, int64_t l2_bytes, bool warm);

// An error of kind usage, with what is needed and what there is, if the sets and `workspace_bytes`
// do not fit `free_bytes`.
Expected<void> check_memory(const Problem& problem, const SetPlan& plan, int64_t workspace_bytes,
                            int64_t free_bytes);

// The operand sets of a benchmark, in device memory, filled with random values in [-1, 1). Base
// pointers of the matrices are aligned to exactly Problem::align_bytes where that is less than 256.
class OperandSets {
 public:
  static gpu::Result<OperandSets> create(const std::shared_ptr<const gpu::Context>& context,
                                         const jit::Compiler& compiler, Arch arch,
                                         const Problem& problem, const SetPlan& plan,
                                         int64_t workspace_bytes);

  int64_t count() const { return plan_.sets; }
  // Addresses of set `index` modulo count(); alpha = 1, beta = 0.
  launch::Operands operands(int64_t index) const;
  int64_t workspace_bytes() const { return static_cast<int64_t>(workspace_.size_bytes()); }

  // Enqueues that set 0's C holds NaN, which all bits set are in every type of results.
  gpu::Result<void> fill_c_with_nan(const gpu::Stream& stream) const;

  // Enqueues a copy of one element of set 0's C (an element offset) to the host: as many bytes as
  // the type of C has.
  gpu::Result<void> read_c(const gpu::Stream& stream, int64_t element,
                           std::span<std::byte> to) const;

  // Seeds that random_value() made set 0's A, B, bias and scales from: element i of the operand as
  // it lies in memory is random_element(random_value(seed, first + i), type).
  struct Origin {
    uint64_t seed;
    uint64_t first;
    DataType type;
  };
  Origin origin_a() const;
  Origin origin_b() const;
  Origin origin_bias() const;
  Origin origin_scale_a() const;
  Origin origin_scale_b() const;

 private:
  OperandSets(Problem problem, SetPlan plan, gpu::DeviceBuffer memory, gpu::DeviceBuffer bias,
              gpu::DeviceBuffer scales, gpu::DeviceBuffer workspace)
      : problem_(problem),
        plan_(plan),
        memory_(std::move(memory)),
        bias_(std::move(bias)),
        scales_(std::move(scales)),
        workspace_(std::move(workspace)) {}
  int64_t offset_a(int64_t set) const;
  int64_t offset_c() const { return offset_a(0) + plan_.bytes_a + plan_.bytes_b; }  // of set 0

  Problem problem_;
  SetPlan plan_;
  gpu::DeviceBuffer memory_;
  gpu::DeviceBuffer bias_;    // of all sets
  gpu::DeviceBuffer scales_;  // of all sets, A's before B's
  gpu::DeviceBuffer workspace_;
};

}  // namespace gemmtune::tuner
