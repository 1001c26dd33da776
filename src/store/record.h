#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arch.h"
#include "core/device.h"
#include "core/error.h"
#include "core/problem.h"

namespace gemmtune::store {

// Where a result comes from. Stored with it, printed with it, never upgraded silently.
enum class Provenance {
  measured,     // on this very device
  transferred,  // from another device of the same arch
  predicted,    // by the model; nothing ran on a GPU
};

// What became of a candidate.
enum class Outcome {
  ok,                // verified; measured, unless the provenance says otherwise
  vendor,            // a vendor library's algorithm, verified and measured
  eliminated_early,  // verified, but so slow that measuring stopped early
  not_run,           // compiled and ranked by the model; neither verified nor measured
  compile_failed,
  illegal,  // broke a legality rule; `reason` names it
  spilled,  // the compiler spilled registers, so it was not run
  wrong_result,
  out_of_bounds,  // wrote outside C
  unwritten,      // left elements of C unwritten
  launch_failed,
};

std::string_view to_string(Provenance provenance);
std::string_view to_string(Outcome outcome);
Expected<Provenance> parse_provenance(std::string_view text);
Expected<Outcome> parse_outcome(std::string_view text);

// One thing that is tuned: a problem for a target. Any problem is accepted; it is stored, compared
// and returned in its canonical() form.
struct Job {
  Problem problem;
  Arch arch;                // compute capability that it is tuned for
  std::string device_uuid;  // the GPU; empty for results that hold for the arch only
  bool warm = false;        // operands in cache (--warm) instead of in memory
};

// One candidate of a job. A vendor algorithm is one too: strategy "cublaslt", config "rank=0 ...".
struct CandidateKey {
  std::string strategy;
  std::string config;            // to_string(TileConfig), or a vendor's own text
  std::string source_hash;       // codegen::source_hash; empty for vendors
  std::string compiler_version;  // NVRTC's "13.0", or the vendor library's version

  auto operator<=>(const CandidateKey&) const = default;
};

// One timing of a candidate. Times are microseconds a call, every launch of the candidate included.
struct Measurement {
  double median_us = 0;
  double ci_low_us = 0;  // 95% confidence interval of the median
  double ci_high_us = 0;
  double min_us = 0;
  int sample_count = 0;            // samples the figures rest on
  std::vector<double> samples_us;  // in the order taken; may be empty
  std::optional<double> sm_clock_min_mhz;
  std::optional<double> sm_clock_median_mhz;
  std::optional<double> power_w;
  uint64_t throttle_reasons = 0;             // NVML's clocks-event mask
  std::optional<double> baseline_median_us;  // the incumbent, interleaved in the same run
  bool final_round = false;  // timed in turns with the other finalists and the vendor
  // In a series of itself, of which each began before the one in front of it had ended, as behind
  // no kernel of a program. Nothing is timed so any more (docs/decisions/0015).
  bool started_early = false;
  int64_t run_id = 0;       // set by the store
  std::string measured_at;  // UTC, ISO 8601; set by the store where empty
};

// A candidate of a job and what is known about it.
struct Record {
  int64_t id = 0;  // set by the store
  Job job;
  CandidateKey key;
  Provenance provenance = Provenance::measured;
  Outcome outcome = Outcome::ok;
  std::string reason;   // why, where the outcome is a failure; may be empty
  int registers = 0;    // a thread
  int spill_bytes = 0;  // a thread, loads plus stores
  int smem_bytes = 0;   // a block, static plus dynamic
  std::optional<double> predicted_us;
  std::optional<double> max_error;         // largest error against the fp64 reference
  std::optional<double> vendor_max_error;  // the vendor's, on the same operands
  std::optional<Measurement> measurement;  // the latest
  int64_t run_id = 0;                      // the run that wrote it last; see begin_run
  std::string updated_at;                  // UTC, ISO 8601; set by the store
  // Set by the store: the same strategy and config were tried again later with another source or
  // compiler, so this row describes a kernel that is no longer generated.
  bool stale = false;
};

// The measured median, else the prediction, else nothing.
std::optional<double> time_us(const Record& record);

// The fastest kernel of a job; see Winner.
struct WinningKernel {
  std::string_view strategy;
  std::string_view config;
  std::string_view source_hash;
  std::string_view compiler_version;
  Provenance provenance = Provenance::measured;
  bool stale = false;
  int registers = 0;   // a thread
  double time_us = 0;  // measured, else predicted
  double rank_us = 0;  // what it is compared with others by; see RecordStore::best
};

// The fastest of a vendor's algorithms; see Winner.
struct WinningAlgorithm {
  std::string_view config;
  std::string_view version;  // of the library
  double time_us = 0;
  double first_us = 0;  // what the heuristic's first algorithm takes; 0: not measured
};

// The best of a job: what a program that dispatches needs to know of it. Texts are valid during the
// call that hands them out, and may be of a newer version of this program.
struct Winner {
  std::string_view problem;             // its key()
  std::string_view arch;                // that the code is generated for, "sm_90"
  std::string_view device_uuid;         // empty: holds for the arch only
  std::optional<WinningKernel> kernel;  // the one that best() returns without vendors
  std::optional<WinningAlgorithm> vendor;
};

// One invocation of the tuner.
struct RunInfo {
  std::string tool_version;
  std::string compiler_version;  // NVRTC
  int driver_version = 0;        // as cuDriverGetVersion gives it; 0 without a driver
  std::string options;           // the command's options, free of host names and paths
};

// A GPU that results exist for.
struct StoredDevice {
  Device device;  // `ordinal`, clocks and shared memory are not kept
  std::string first_seen;
};

}  // namespace gemmtune::store
