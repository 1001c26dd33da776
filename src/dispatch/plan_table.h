#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dispatch/packed_plans.h"
#include "dispatch/plan.h"
#include "dispatch/problem_index.h"

namespace gemmtune::dispatch {

// The plans of a handle, by problem and by where the scalars and the bias are. find() takes no lock
// and allocates nothing; plans live as long as the table.
class PlanTable {
 public:
  // Plans of problems that `known` does not have are kept up to this number, so that a program
  // whose problems never repeat does not grow without end.
  static constexpr size_t kMaxOthers = 16384;

  explicit PlanTable(const ProblemIndex& known)
      : known_(known),
        packed_(known),
        plans_(std::make_unique<std::atomic<const Plan*>[]>(2 * size_t{known.size()})),
        others_(kBuckets) {}
  ~PlanTable();
  PlanTable(const PlanTable&) = delete;
  PlanTable& operator=(const PlanTable&) = delete;

  // Null if there is none yet.
  const Plan* find(const Request& request) const;
  // The same of a known problem; null also where the problem is not known.
  const Plan* find(const PackedRequest& request) const {
    return packed_.find(request.problem, request.device_scalars);
  }

  // Makes a plan the one that find() returns, unless another thread was faster, and returns that
  // one. Null, with `plan` untouched, if the table is full.
  const Plan* add(const Request& request, std::unique_ptr<const Plan>& plan);

 private:
  static constexpr size_t kBuckets = 4096;

  // A problem that is not known, or is asked for with any address of its bias or with limits of its
  // own: in a list that only grows.
  struct Other {
    Problem problem;
    bool deterministic = false;
    std::optional<int64_t> max_workspace_bytes;
    std::array<std::atomic<const Plan*>, 4> plans = {};  // by side()
    Other* next = nullptr;
  };

  static size_t side(const Request& request) {
    return (request.device_scalars ? 1 : 0) + (request.any_bias_address ? 2 : 0);
  }

  static bool is_of(const Other& other, const Request& request) {
    return other.problem == request.problem && other.deterministic == request.deterministic &&
           other.max_workspace_bytes == request.max_workspace_bytes;
  }
  Other* find_other(const Request& request) const;
  std::atomic<const Plan*>* place(const Request& request);

  std::atomic<const Plan*>* place_of_known(const Request& request) const;

  const ProblemIndex& known_;
  PackedPlans packed_;  // the usual ones of them
  // Of the known ones, two per problem: scalars on host and on device.
  std::unique_ptr<std::atomic<const Plan*>[]> plans_;
  std::vector<std::atomic<Other*>> others_;
  std::mutex mutex_;  // of those who add
  std::vector<std::unique_ptr<const Plan>> owned_;
  size_t other_count_ = 0;
};

}  // namespace gemmtune::dispatch
