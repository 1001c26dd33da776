#include "dispatch/plan_table.h"

#include <utility>

namespace gemmtune::dispatch {

PlanTable::~PlanTable() {
  for (std::atomic<Other*>& bucket : others_) {
    const Other* other = bucket.load(std::memory_order_relaxed);
    while (other != nullptr) {
      const std::unique_ptr<const Other> gone(other);
      other = other->next;
    }
  }
}

PlanTable::Other* PlanTable::find_other(const Request& request) const {
  const auto& bucket = others_[ProblemIndex::hash(request.problem) % kBuckets];
  Other* other = bucket.load(std::memory_order_acquire);
  while (other != nullptr && !is_of(*other, request)) other = other->next;
  return other;
}

// Null for a problem that is not known, or is asked for with any address of its bias or with limits
// of its own.
std::atomic<const Plan*>* PlanTable::place_of_known(const Request& request) const {
  if (request.any_bias_address || request.has_own_limits()) return nullptr;
  if (const auto usual = packed(request.problem))
    return packed_.place(*usual, request.device_scalars);
  const uint32_t number = known_.find(request.problem);
  if (number == ProblemIndex::kNone) return nullptr;
  return &plans_[2 * size_t{number} + (request.device_scalars ? 1 : 0)];
}

const Plan* PlanTable::find(const Request& request) const {
  if (const auto* at = place_of_known(request)) return at->load(std::memory_order_acquire);
  const Other* other = find_other(request);
  return other == nullptr ? nullptr : other->plans[side(request)].load(std::memory_order_acquire);
}

// Where the plan goes; null if the table is full. Under the mutex.
std::atomic<const Plan*>* PlanTable::place(const Request& request) {
  if (auto* const at = place_of_known(request)) return at;
  if (Other* other = find_other(request)) return &other->plans[side(request)];
  if (other_count_ == kMaxOthers) return nullptr;
  ++other_count_;
  auto& bucket = others_[ProblemIndex::hash(request.problem) % kBuckets];
  auto other = std::make_unique<Other>();
  other->problem = request.problem;
  other->deterministic = request.deterministic;
  other->max_workspace_bytes = request.max_workspace_bytes;
  other->next = bucket.load(std::memory_order_relaxed);
  auto* const place = &other->plans[side(request)];
  bucket.store(other.release(), std::memory_order_release);
  return place;
}

const Plan* PlanTable::add(const Request& request, std::unique_ptr<const Plan>& plan) {
  const std::lock_guard lock(mutex_);
  std::atomic<const Plan*>* const at = place(request);
  if (at == nullptr) return nullptr;
  if (const Plan* faster = at->load(std::memory_order_relaxed)) return faster;
  owned_.push_back(std::move(plan));
  at->store(owned_.back().get(), std::memory_order_release);
  return owned_.back().get();
}

}  // namespace gemmtune::dispatch
