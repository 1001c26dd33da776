#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/target.h"
#include "app/verify/kernel_check.h"

namespace gemmtune::app {

struct RandomVerifyOptions {
  TargetOptions target;
  std::string strategy;         // empty: all that run on the target
  std::string backend = "gpu";  // gpu, sim
  int cases = 100;              // of each strategy
  uint64_t seed = 1;
  int jobs = 0;  // 0: as many as there are cores
};

// What became of a strategy's cases. A kernel stops at its first wrong one.
struct RandomlyVerified {
  std::string strategy;
  size_t kernels = 0;
  size_t cases = 0;
  double max_error = 0;               // as Verdict::max_error
  std::vector<VerifiedKernel> wrong;  // `config` begins with the kernel's name
};

struct RandomVerifyReport {
  std::string backend;
  Target target;
  uint64_t seed = 0;
  std::vector<RandomlyVerified> strategies;
  bool interrupted = false;

  bool correct() const;
};

// Draws kernels of each strategy and problems for them, 10 for each kernel, and checks them against
// an fp64 reference; writes nothing. The same seed draws the same cases on the same target.
// `on_strategy` is called when one is done; it may be empty.
Expected<RandomVerifyReport> verify_random(
    const Context& context, const RandomVerifyOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const RandomlyVerified&)>& on_strategy);

std::string random_verify_json(const RandomVerifyReport& report);

}  // namespace gemmtune::app
