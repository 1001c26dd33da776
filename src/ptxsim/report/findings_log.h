#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ptxsim/report/finding.h"

namespace gemmtune::ptxsim {

// Collects findings of one host thread: the first in block order for each instruction and check.
class FindingsLog {
 public:
  // Whether the details of such a finding are worth working out; counts it in any case.
  bool wants(Check check, uint32_t instruction, uint64_t block_index);
  void add(uint32_t instruction, Finding finding);

  void merge(FindingsLog&& other);
  // By place in the program, then check.
  std::vector<Finding> take();

 private:
  using Key = std::pair<uint32_t, Check>;
  struct Entry {
    Finding finding;
    uint64_t times = 0;
  };
  std::map<Key, Entry> entries_;
};

}  // namespace gemmtune::ptxsim
