#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "dispatch/request.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// What may be chosen on a device.
struct Target {
  DeviceSpec limits;
  Arch arch;           // the device's compute capability
  bool vendor = true;  // cuBLASLt may be used
  bool deterministic = false;
  int64_t max_workspace_bytes = 0;
};

// One way to compute a problem.
struct Choice {
  enum class Route { kernel, vendor_algorithm, vendor_default };

  Route route = Route::vendor_default;
  codegen::KernelSpec spec;              // of a kernel
  const StoredKernel* stored = nullptr;  // of a kernel that won a problem; in the snapshot
  std::string vendor_config;             // of an algorithm: as the store has it
  std::optional<double> expected_us;     // nothing where there is nothing to go by
  std::optional<Origin> origin;          // of expected_us, where it was stored for this problem
  std::optional<Problem> neighbour;      // the problem it won, where that is another one
  std::optional<Problem> fewer_rows;     // of rules 4 and 6: the other bound
  std::optional<Lead> lead;              // of rules 3 to 8 below: why the kernel is first
  bool stale = false;
  std::string reason;  // one line: why it is where it is in the order
};

// Something that might have been chosen, and why it was not.
struct Rejection {
  std::string what;
  std::string why;
};

// The ways to compute a problem, the preferred one first: the next one is for where one turns out
// not to be available (no compiler, no cuBLASLt). Empty if nothing is known to.
struct Decision {
  std::vector<Choice> choices;
  std::vector<Rejection> rejections;
};

// What a workspace for the request may have at most, where the handle's may have `of_handle` bytes.
int64_t max_workspace_bytes(const Request& request, int64_t of_handle);

// Decides, without touching any device. In this order:
//   1. a problem that was measured on this device or another of its model: the fastest of what was
//      measured, a kernel or an algorithm of the vendor's (power_limit.h: a kernel that ran at
//      another device's power limit counts as longer)
//   2. the same with pointers of another alignment class: its kernel, where that beat the vendor
//   3. the same measured on another model of the arch with as many SMs: its kernel, where that beat
//      the vendor by far
//   4. the kernel of the same with more rows, where it beat what the vendor takes for fewer
//   5. the kernel of the same sizes with other types as wide, another epilogue or other leading
//      dimensions, where that beat the vendor (variant_lead.h)
//   6. of such a problem with more rows, as in 4
//   7. of few rows or columns, or of integers or f32, the kernel that should be the fastest by its
//      time for other sizes, where it should beat the vendor (estimated_lead.h)
//   8. the kernel of the nearest problem that differs in sizes only, where that beat the vendor by
//      far (similar_lead.h)
//   9. the vendor's default
//  10. kernels that won similar problems, nearest first, with the epilogue of this one
//  11. a kernel that is legal for every problem of its type and math mode
// `request` is of a valid problem; the result refers to `snapshot`.
Decision decide(const Snapshot& snapshot, const Request& request, const Target& target);

// "double_buffer 128x128x8/64x32/8x8 ..." or "cuBLASLt rank=0 algo=...": a choice in a few words.
std::string describe(const Choice& choice);

}  // namespace gemmtune::dispatch
