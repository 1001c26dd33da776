#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "dispatch/packed_problem.h"
#include "dispatch/plan.h"
#include "dispatch/problem_index.h"

namespace gemmtune::dispatch {

// Plans of the densely packed problems of an index, two per problem: scalars on the host and on the
// device. An open-addressing table whose slots hold problem and plans together, 32 bytes on one
// cache line and, where the system gives them, on large pages: a lookup that finds neither in a
// cache waits for memory once. Which problems it has is fixed when it is made; find() takes no lock
// and allocates nothing.
class PackedPlans {
 public:
  explicit PackedPlans(const ProblemIndex& known);

  // Null if the problem has no plan yet, or is not here.
  const Plan* find(const PackedProblem& problem, bool device_scalars) const {
    const Slot* slot = slot_of(problem);
    return slot == nullptr ? nullptr : slot->plans[device_scalars ? 1 : 0].load(kAcquire);
  }

  // Where the plan of a problem is kept; null for one that is not here.
  std::atomic<const Plan*>* place(const PackedProblem& problem, bool device_scalars) const {
    Slot* slot = slot_of(problem);
    return slot == nullptr ? nullptr : &slot->plans[device_scalars ? 1 : 0];
  }

 private:
  static constexpr std::memory_order kAcquire = std::memory_order_acquire;

  struct alignas(32) Slot {
    uint32_t m = 0;
    uint32_t n = 0;
    uint32_t k = 0;
    uint32_t kind = 0;  // kind_of(); 0: the slot is free
    std::array<std::atomic<const Plan*>, 2> plans = {};
  };
  static_assert(sizeof(Slot) == 32, "two slots a cache line");

  struct Unmap {
    size_t bytes;
    void operator()(Slot* slots) const;
  };

  static std::unique_ptr<Slot[], Unmap> allocate(size_t count);

  // The problem's slot, or the free one where it would go.
  Slot& free_or_same(const PackedProblem& p) const {
    const uint32_t kind = kind_of(p);
    for (size_t i = hash_of(p, kind) & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      const bool same = slot.m == p.m && slot.n == p.n && slot.k == p.k && slot.kind == kind;
      if (same || slot.kind == 0) return slot;
    }
  }

  Slot* slot_of(const PackedProblem& problem) const {
    if (slots_ == nullptr) return nullptr;
    Slot& slot = free_or_same(problem);
    return slot.kind == 0 ? nullptr : &slot;
  }

  size_t mask_ = 0;
  std::unique_ptr<Slot[], Unmap> slots_{
      nullptr, Unmap{0}};  // mask_ + 1 of them, at most half in use; null: none
};

}  // namespace gemmtune::dispatch
