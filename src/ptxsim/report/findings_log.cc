#include "ptxsim/report/findings_log.h"

namespace gemmtune::ptxsim {

bool FindingsLog::wants(Check check, uint32_t instruction, uint64_t block_index) {
  const auto [found, inserted] = entries_.try_emplace(Key{instruction, check});
  ++found->second.times;
  return inserted || block_index < found->second.finding.block_index;
}

void FindingsLog::add(uint32_t instruction, Finding finding) {
  Entry& entry = entries_[Key{instruction, finding.check}];
  entry.finding = std::move(finding);
}

void FindingsLog::merge(FindingsLog&& other) {
  for (auto& [key, entry] : other.entries_) {
    const auto [found, inserted] = entries_.try_emplace(key, std::move(entry));
    if (inserted) continue;
    found->second.times += entry.times;
    if (entry.finding.block_index < found->second.finding.block_index) {
      found->second.finding = std::move(entry.finding);
    }
  }
}

std::vector<Finding> FindingsLog::take() {
  std::vector<Finding> out;
  out.reserve(entries_.size());
  for (auto& [key, entry] : entries_) {
    entry.finding.times = entry.times;
    out.push_back(std::move(entry.finding));
  }
  entries_.clear();
  return out;
}

}  // namespace gemmtune::ptxsim
