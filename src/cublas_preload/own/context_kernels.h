#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/problem.h"
#include "cublas_preload/asked.h"
#include "cublas_preload/own/own_call.h"
#include "cublas_preload/own/run_settings.h"
#include "cublas_preload/own/workspaces.h"
#include "dispatch/dispatcher.h"

namespace gemmtune::cublas_preload {

// What computes a problem in a context: a kernel that is loaded, an algorithm of cuBLASLt's, or
// what the program asked for.
struct OwnPlan {
  std::unique_ptr<const dispatch::Plan> plan;  // null: what the program asked for
  bool operands_swapped = false;
  bool device_scalars = false;
  mutable std::atomic<bool> failed = false;
};

// What was decided about a problem, in words, for the report.
struct Decided {
  const OwnPlan* plan = nullptr;
  Ran ran = Ran::cublas;
  std::string text;
  double own_us = 0;
  double vendor_us = 0;
};

// The own kernels of a CUDA context, by the number of the problem. Thread-safe.
class ContextKernels {
 public:
  // `context` is current.
  ContextKernels(CUcontext context, unsigned long long id, const RunSettings& settings,
                 const RunDriver& driver, uint32_t capacity);

  CUcontext context() const { return context_; }
  unsigned long long id() const { return id_; }

  // Null where nothing is decided yet.
  const OwnPlan* find(size_t number) const {
    return plans_[number].load(std::memory_order_acquire);
  }

  // Decides, and loads the kernel; takes up to seconds. The context is current, and no stream that
  // matters is under capture. Null without a word where another thread was faster.
  Decided decide(size_t number, const Product& product, const Problem& problem);

  // The failure, if there is one; then C is as it was unless the failure says otherwise.
  dispatch::Outcome<void> enqueue(const OwnCall& call, const Asked& asked) const;

  Workspaces& workspaces() { return workspaces_; }

 private:
  Decided choose(const Product& product, const Problem& problem);
  // The kernel of just this problem.
  Decided find_winner(const Product& product, const Problem& problem);

  CUcontext context_;
  unsigned long long id_;
  std::unique_ptr<dispatch::Dispatcher> dispatcher_;  // null: see below
  std::string why_not_;
  std::optional<MathMode> f32_math_;
  Workspaces workspaces_;
  std::mutex mutex_;  // of those who decide
  std::unique_ptr<std::atomic<const OwnPlan*>[]> plans_;
  std::vector<std::unique_ptr<const OwnPlan>> owned_;
  // By the workspace: held while a product that has one is enqueued, since a launch of another one
  // in between, by another thread on the same stream, would overwrite its partial sums.
  mutable std::array<std::mutex, 16> enqueueing_;
};

}  // namespace gemmtune::cublas_preload
