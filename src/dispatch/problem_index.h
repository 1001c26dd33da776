#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/problem.h"

namespace gemmtune::dispatch {

// Numbers problems, and finds a problem's number again. Problems are comparable() ones. Finding is
// const, takes no lock and allocates nothing; adding is for one thread, before others look.
//
// An open-addressing table whose slots hold what identifies a densely packed problem without a
// batch; others are told apart by the list of problems.
class ProblemIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The problem's number, and whether it is new. Numbers are 0, 1, 2, ...
  std::pair<uint32_t, bool> add(const Problem& problem);

  // kNone for a problem that was never added.
  uint32_t find(const Problem& problem) const;

  // The numbers of all problems with such an n and k, whatever their rows, in ascending order.
  std::span<const uint32_t> of_columns(int64_t n, int64_t k) const;

  const Problem& operator[](uint32_t number) const { return problems_[number]; }
  // The same for equal problems.
  static uint64_t hash(const Problem& problem);

  uint32_t size() const { return static_cast<uint32_t>(problems_.size()); }

 private:
  struct Slot {
    uint32_t m = 0;
    uint32_t n = 0;
    uint32_t k = 0;
    uint32_t kind = 0;  // types, math, layout, alignment, epilogue, packed or not; 0: it is free
    uint32_t number = 0;
    uint32_t more = 0;  // a hash of what the fields above leave out; 0 for packed problems
  };

  static Slot slot_of(const Problem& problem);
  static uint64_t hash_of(const Slot& slot);
  size_t place(const Slot& wanted, const Problem& problem) const;
  void grow();

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  std::vector<Problem> problems_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> of_columns_;  // by n and k
};

}  // namespace gemmtune::dispatch
