#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dispatch/plan.h"
#include "gemmtune/gemmtune.h"

namespace gemmtune::dispatch {

// The plans that this thread used last, by the caller's own description of the problem, bit by bit:
// the fastest way from a call to a plan. A direct-mapped cache; entries of destroyed handles are
// never found again, as no two handles have the same serial.
class ThreadCache {
 public:
  struct Entry {
    uint64_t serial = 0;  // of the handle; 0: empty
    gemmtune_problem problem = {};
    const Plan* plan = nullptr;
    bool operands_swapped = false;
  };

  // Null if it is not here.
  const Entry* find(uint64_t serial, const gemmtune_problem& problem) const {
    const Entry& entry = entries_[index(problem)];
    const bool hit = entry.serial == serial &&
                     std::memcmp(&entry.problem, &problem, sizeof(gemmtune_problem)) == 0;
    return hit ? &entry : nullptr;
  }

  void put(uint64_t serial, const gemmtune_problem& problem, const Plan* plan,
           bool operands_swapped) {
    entries_[index(problem)] = {serial, problem, plan, operands_swapped};
  }

 private:
  static constexpr size_t kEntries = 64;

  static size_t index(const gemmtune_problem& p) {
    const auto word = [](int64_t value) { return static_cast<uint64_t>(value); };
    uint64_t hash = word(p.m) * 0x9e3779b97f4a7c15 + word(p.n) * 0xd1b54a32d192ed03 +
                    word(p.k) * 0x8cb92ba72f3d8dd7 + word(p.batch);
    hash += static_cast<uint64_t>(p.type) + 2 * static_cast<uint64_t>(p.order_a) +
            4 * static_cast<uint64_t>(p.order_b) + 8 * static_cast<uint64_t>(p.scalars);
    // Bias and activation.
    static_assert(offsetof(gemmtune_problem, activation) == offsetof(gemmtune_problem, bias) + 4);
    uint64_t epilogue = 0;
    std::memcpy(&epilogue, reinterpret_cast<const char*>(&p) + offsetof(gemmtune_problem, bias),
                sizeof(epilogue));
    hash += epilogue + 16 * static_cast<uint64_t>(p.scale);
    return (hash * 0x9e3779b97f4a7c15) >> (64 - 6);
  }
  static_assert(kEntries == 64, "as many as index() gives");

  std::array<Entry, kEntries> entries_ = {};
};

}  // namespace gemmtune::dispatch
