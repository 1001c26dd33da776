#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.h"
#include "store/record_store.h"
#include "tuner/device_evaluator.h"
#include "tuner/suite.h"

namespace gemmtune::tuner {

// One side of a comparison: times are microseconds a call.
struct BenchSide {
  double median_us = 0;
  double ci_low_us = 0;  // 95% confidence interval of the median
  double ci_high_us = 0;
  std::string config;  // strategy and tile, or the vendor's algorithm
};

// One problem, measured. All sides were measured in the same interleaved rounds.
struct SuiteBenchRow {
  SuiteEntry entry;
  std::optional<BenchSide> own;           // the store's best for this device
  std::optional<BenchSide> vendor_first;  // cuBLASLt's first heuristic
  std::optional<BenchSide> vendor_best;   // the fastest of all it returns
  std::string note;                       // why a side is missing; else empty
};

// Geometric means of time ratios over the rows of a group that have both sides; above 1, own
// kernels are faster. 0 where no row has both.
struct GroupMean {
  std::string group;
  int rows = 0;      // of the group
  int compared = 0;  // of those, with own and vendor times
  double own_vs_first = 0;
  double own_vs_best = 0;
};

// Compares the store's best kernel of entry.problem on services.device with cuBLASLt. What keeps a
// side from being measured (nothing tuned, unsupported, does not compile, no memory) is the row's
// note; an error means that the device or the store failed.
Expected<SuiteBenchRow> bench_entry(const SuiteEntry& entry, const DeviceServices& services,
                                    store::RecordStore& store, const EvaluationOptions& options);

// One mean a group, in the order of first appearance, and one over everything, called "all", where
// there is more than one group.
std::vector<GroupMean> group_means(std::span<const SuiteBenchRow> rows);

}  // namespace gemmtune::tuner
