#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "app/verify/kernel_check.h"

namespace gemmtune::app {

struct VerifyOptions {
  // Its layout and alignment choose the kernel; its sizes are those of the cases on a GPU, and of
  // the product that is profiled. The simulator's cases have sizes just above each tile's.
  ProblemOptions problem;
  TargetOptions target;
  std::string strategy;
  std::string tile;             // empty: a sample of the strategy's space
  std::string backend = "gpu";  // gpu, sim
  std::string async;            // on sim: early, late, both; empty: both
  bool profile = false;         // on sim: what one product executes and moves
  int tiles = 8;                // how many are sampled
  uint64_t seed = 1;
};

struct VerifyReport {
  std::string strategy;
  std::string backend;
  std::string async;  // early, late, both; empty on a GPU
  Target target;
  size_t cases = 0;                 // a kernel; 0 where the backend chooses them
  std::optional<Problem> profiled;  // canonical
  std::vector<VerifiedKernel> kernels;

  bool correct() const;
};

// Checks kernels of a strategy against an fp64 reference; writes nothing. `on_kernel` is called as
// verdicts are ready; it may be empty. Usage error for options that do not go together.
Expected<VerifyReport> verify(const Context& context, const VerifyOptions& options,
                              const std::atomic<bool>& stop,
                              const std::function<void(const VerifiedKernel&)>& on_kernel);

std::string verify_json(const VerifyReport& report);

}  // namespace gemmtune::app
