#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cli/problem_options.h"
#include "cli/services.h"
#include "tuner/suite_bench.h"

namespace gemmtune::cli {

struct BenchOptions {
  ProblemOptions problems;
  TargetOptions target;
  bool warm = false;
  double seconds = 6;  // at most, a problem
};

struct BenchReport {
  Target target;
  int driver_version = 0;  // as cuDriverGetVersion gives it
  bool warm = false;
  bool interrupted = false;
  std::vector<tuner::SuiteBenchRow> rows;
  std::vector<tuner::GroupMean> means;
};

// Each may be empty.
struct BenchEvents {
  std::function<Expected<void>()> on_ready;  // everything is checked; an error ends the command
  std::function<void(const tuner::SuiteBenchRow&)> on_row;
};

// Measures the database's best kernels against cuBLASLt. Needs a GPU (ErrorKind::unsupported
// without); writes nothing.
Expected<BenchReport> run_bench(const Context& context, const BenchOptions& options,
                                const std::atomic<bool>& stop, const BenchEvents& events);

std::string bench_text(const BenchReport& report);
std::string bench_json(const BenchReport& report);
std::string bench_csv(const BenchReport& report);

}  // namespace gemmtune::cli
