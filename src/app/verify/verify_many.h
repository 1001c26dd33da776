#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/target.h"
#include "app/verify/kernel_check.h"

namespace gemmtune::app {

struct VerifyManyOptions {
  TargetOptions target;
  std::string strategy;         // empty: all that run on the target
  std::string backend = "gpu";  // gpu, sim
  int random_cases = 0;         // of each strategy; 0: the kernels that come with the program
  uint64_t seed = 1;            // of random cases
  int jobs = 0;                 // 0: as many as there are cores
};

// What became of a strategy's cases. A kernel stops at its first wrong one.
struct VerifiedStrategy {
  std::string strategy;
  size_t kernels = 0;
  size_t cases = 0;
  double max_error = 0;               // as Verdict::max_error
  std::vector<VerifiedKernel> wrong;  // `config` begins with candidate_name()
};

struct VerifyManyReport {
  std::string backend;
  Target target;
  bool shipped = false;
  uint64_t seed = 0;
  std::vector<VerifiedStrategy> strategies;
  bool interrupted = false;

  bool correct() const;
};

// Checks kernels of many strategies against an fp64 reference, side by side; writes nothing. Random
// ones: drawn with 10 problems for each; the same seed draws the same on the same target. Or those
// of the results that come with the program and whose code runs on the target, of any GPU model,
// with the thorough cases at sizes just above their tiles. `on_strategy` is called when one is
// done; it may be empty.
Expected<VerifyManyReport> verify_many(
    const Context& context, const VerifyManyOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const VerifiedStrategy&)>& on_strategy);

std::string verify_many_json(const VerifyManyReport& report);

}  // namespace gemmtune::app
