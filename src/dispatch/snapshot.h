#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/arch.h"
#include "core/device.h"
#include "dispatch/problem_index.h"
#include "store/record.h"

namespace gemmtune::dispatch {

// Where a stored time comes from, as seen from the device it is to be used on; best first.
enum class Origin {
  this_device,  // measured on it
  same_model,   // measured on another device of its name and size
  same_size,    // measured on a device of another model, of this arch and with as many SMs
  same_arch,    // measured on another device whose code runs here
  prediction,   // by the model; nothing was measured
};
std::string_view to_string(Origin origin);
// Whether it was measured on a device of this model.
inline bool is_direct(Origin origin) {
  return origin == Origin::this_device || origin == Origin::same_model;
}

// Where times that are compared were measured: those of two models say nothing of each other.
enum class Measured {
  on_this_model,
  on_another,  // of this arch and with as many SMs
};
bool was_measured(Origin origin, Measured where);

// A kernel as the store names it. One stands for all problems that it won.
struct StoredKernel {
  std::string strategy;
  std::string config;
  std::string source_hash;
  std::string compiler_version;
  Arch arch;  // compute capability that it was tuned for
};

// A kernel that won a problem.
struct KnownKernel {
  uint32_t index = 0;  // into Snapshot::kernels
  Origin origin = Origin::this_device;
  bool other_model = false;  // predicted for a GPU that is not of this device's model
  bool stale = false;
  double time_us = 0;
  double rank_us = 0;  // what it is compared with others by
  // The time of the vendor's fastest algorithm over its own, where one device measured both; else
  // 0.
  double lead = 0;
};

// The vendor's fastest algorithm for a problem.
struct KnownAlgorithm {
  uint32_t index = 0;  // into Snapshot::vendor_configs
  Origin origin = Origin::this_device;
  double time_us = 0;
  double first_us = 0;  // what the heuristic's first algorithm takes; 0: not measured
};

// What is known about one problem.
struct Known {
  std::optional<KnownKernel> kernel;
  std::optional<KnownAlgorithm> vendor;
};

// What a kernel and the vendor's fastest algorithm take for a problem, by what was measured of it,
// or by what other problems or devices say of it.
struct Lead {
  double own_us = 0;
  double vendor_us = 0;
};

// What a kernel that is not stale and the vendor's algorithms took, measured on devices of this
// model, or on one of another model with as many SMs. Nothing otherwise.
std::optional<Lead> compared_lead(const Known& known);

// Everything that a store or a pack knows that matters on one device. Immutable once built.
struct Snapshot {
  ProblemIndex problems;
  std::vector<Known> known;  // by the problem's number
  std::vector<StoredKernel> kernels;
  std::vector<std::string> vendor_configs;
  int64_t skipped = 0;  // winners of other archs, or in terms this program does not know

  // That won the problem `number`, which has one.
  const StoredKernel& kernel_of(uint32_t number) const {
    return kernels[known[number].kernel->index];
  }
};

// Collects winners, in any order, and keeps the best of each problem for `device`.
class SnapshotBuilder {
 public:
  // `stored` are the devices that the winners may name.
  SnapshotBuilder(const Device& device, std::span<const Device> stored);

  void add(const store::Winner& winner);
  Snapshot take() { return std::move(snapshot_); }

 private:
  std::optional<Arch> arch_of(std::string_view text);
  Origin origin_of(const store::Winner& winner, store::Provenance provenance) const;
  Origin measured_on(std::string_view uuid) const;
  uint32_t kernel_index(const store::WinningKernel& kernel, Arch arch, std::string_view arch_text);
  uint32_t vendor_index(std::string_view config);

  std::string uuid_;
  Arch device_arch_;
  std::map<std::string, Origin, std::less<>> origins_;  // of what a device measured, by uuid
  std::map<std::string, std::optional<Arch>, std::less<>> archs_;
  std::unordered_map<std::string, uint32_t> kernel_indices_;
  std::unordered_map<std::string, uint32_t> vendor_indices_;
  std::string scratch_;
  Snapshot snapshot_;
};

}  // namespace gemmtune::dispatch
