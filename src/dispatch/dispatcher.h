#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/failure.h"
#include "dispatch/kernel_loader.h"
#include "dispatch/plan.h"
#include "dispatch/plan_table.h"
#include "dispatch/snapshot.h"
#include "dispatch/vendor_access.h"
#include "dispatch/winner.h"
#include "gpu/context.h"

namespace gemmtune::dispatch {

// What gemmtune_options says, in terms of this project.
struct DispatcherOptions {
  std::string database;   // either this
  std::string pack;       // or this
  std::string cache_dir;  // empty: no cache
  std::string driver_library;
  std::vector<std::string> nvrtc_candidates;  // empty: nothing is compiled
  std::vector<std::string> cublaslt_names;    // empty: cuBLASLt is not used
  int device = GEMMTUNE_CURRENT_DEVICE;
  int threads = 0;
  bool deterministic = false;
  int64_t max_workspace_bytes = 0;
};

// A plan that is in the table, or, where that is full, one of its own.
struct PreparedPlan {
  const Plan* plan = nullptr;
  std::unique_ptr<const Plan> own;
};

// What is behind a gemmtune_handle. Thread-safe.
class Dispatcher {
 public:
  static Outcome<std::unique_ptr<Dispatcher>> create(const DispatcherOptions& options);

  // Unlike any other dispatcher's of this process, ever.
  uint64_t serial() const { return serial_; }

  // Problems of which the database or pack has a result whose code runs on this device.
  size_t tuned_problems() const { return snapshot_.problems.size(); }

  // The plan of a request that was prepared, else null. Takes no lock, allocates nothing.
  const Plan* find(const Request& request) const { return plans_.find(request); }
  const Plan* find(const PackedRequest& request) const { return plans_.find(request); }

  // The same, after making it where there is none.
  Outcome<PreparedPlan> prepare(const Request& request);

  // The plan of the first of a request's winners() that can be had, or, where the program's
  // workspace makes cuBLASLt's heuristic choose another algorithm, of its level_kernels(). It is
  // not kept here. NO_KERNEL where there is none. cuBLASLt is opened for its algorithms only.
  struct WinnerPlan {
    std::unique_ptr<const Plan> plan;
    double own_us = 0;
    double vendor_us = 0;
  };
  Outcome<WinnerPlan> prepare_winner(const Request& request);

  // Prepares all of them on several threads; a status for each.
  std::vector<Outcome<void>> prepare_all(std::span<const Request> requests);

  // NOT_PREPARED if `stream` is being captured, which making a plan would disturb.
  Outcome<void> check_not_capturing(CUstream stream) const;

  // Enqueues a plan's product with the context current. INVALID_ARGUMENT for addresses that are
  // null or not aligned, WORKSPACE_TOO_SMALL, CUDA.
  Outcome<void> run(const Plan& plan, const Operands& operands, size_t workspace_bytes,
                    CUstream stream) const;

  Decision decide(const Request& request) const {
    return dispatch::decide(snapshot_, request, target_);
  }

 private:
  Outcome<void> prepare_alone(const Request& request);

  Dispatcher(const DispatcherOptions& options, std::shared_ptr<const gpu::Context> context,
             Target target, Snapshot snapshot, KernelImages images);

  std::optional<Decision> decide_reading_c(const Request& request, const Decision& usual) const;

  uint64_t serial_;
  int threads_;
  std::shared_ptr<const gpu::Context> context_;
  Target target_;
  Snapshot snapshot_;
  KernelLoader kernels_;
  VendorAccess vendor_;
  Planner planner_;
  PlanTable plans_;  // last: it refers to kernels and vendor
};

}  // namespace gemmtune::dispatch
