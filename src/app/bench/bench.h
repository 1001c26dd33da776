#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_choice.h"
#include "app/bench/bench_summary.h"
#include "app/common/context.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "dispatch/decision.h"
#include "tuner/session/session.h"

namespace gemmtune::app {

// How far --tune-missing searches, a problem.
struct BenchSearchOptions {
  std::optional<int> candidates;
  double seconds = 0;  // 0: no limit
  int jobs = 0;        // 0: as many as there are cores

  bool operator==(const BenchSearchOptions&) const = default;
};

struct BenchOptions {
  ProblemOptions problems;
  TargetOptions target;
  bool warm = false;
  double seconds = 6;  // of turns at most, a problem (tuner::FinalRoundOptions)
  float beta = 0;      // of the products
  // That cuBLASLt may ask for.
  int64_t vendor_workspace_bytes = tuner::kVendorWorkspaceBytes;
  bool sustained = false;     // each side without a rest, too
  bool tune_missing = false;  // first search for what was not measured on this device
  BenchSearchOptions search;
};

struct BenchReport {
  Target target;
  int driver_version = 0;  // as cuDriverGetVersion gives it
  bool warm = false;
  float beta = 0;
  int64_t vendor_workspace_bytes = tuner::kVendorWorkspaceBytes;
  bool interrupted = false;
  std::string failure;  // what ended the command before its end; else empty
  std::vector<BenchRow> rows;
  std::vector<BenchGroup> groups;
};

// Each may be empty.
struct BenchEvents {
  std::function<Expected<void>()> on_ready;  // everything is checked; an error ends the command
  std::function<tuner::ProgressFunction(const WantedProblem&)> on_search;
  std::function<void(const BenchRow&)> on_row;
};

// What measuring a problem takes.
struct BenchServices {
  std::function<Expected<std::unique_ptr<tuner::Evaluator>>(const Problem&)> make_evaluator;
  MakeKernel make_kernel;
};

// Measures what `decision`, which is about wanted.problem, comes to here, beside cuBLASLt. What
// keeps something from being measured (unsupported, does not compile, wrong, no memory) is the
// row's note; an error means that the device failed.
Expected<BenchRow> bench_problem(const WantedProblem& wanted, const dispatch::Decision& decision,
                                 const BenchServices& services);

// A problem's row; nothing where the command was interrupted before it was measured.
using MeasureRow = std::function<Expected<std::optional<BenchRow>>(const WantedProblem&)>;

// What is done for each problem, one after the other.
struct RowSteps {
  // What measuring the problem would wait for and takes no GPU. For all but the first problem it
  // runs in a thread of its own while the one before is measured. Empty: nothing.
  std::function<void(const WantedProblem&)> prepare;
  MeasureRow measure;
};

// Fills in the rows of `report`, what is told of them, and why there are not as many as there are
// problems.
void measure_rows(std::span<const WantedProblem> wanted, const RowSteps& steps,
                  const std::atomic<bool>& stop, const BenchEvents& events, BenchReport& report);

// Measures what the library would run for each problem beside cuBLASLt. Needs a GPU
// (ErrorKind::unsupported without); writes nothing but what --tune-missing finds. Once problems are
// being measured, a failure ends the work and is told in the report.
Expected<BenchReport> bench(const Context& context, const BenchOptions& options,
                            const std::atomic<bool>& stop, const BenchEvents& events);

// An error that says why, if no problem was compared with cuBLASLt, or if something failed.
Expected<void> check_compared(const BenchReport& report);

std::string bench_json(const BenchReport& report);

}  // namespace gemmtune::app
