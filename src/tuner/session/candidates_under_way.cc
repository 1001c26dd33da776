#include "tuner/session/candidates_under_way.h"

#include <algorithm>
#include <utility>

#include "jit/compile_again.h"

namespace gemmtune::tuner {

CandidatesUnderWay::CandidatesUnderWay(std::shared_ptr<const jit::KernelCompiler> compiler,
                                       int threads)
    : threads_(static_cast<size_t>(std::max(1, threads))), pool_(std::move(compiler), threads) {}

void CandidatesUnderWay::add(Candidate candidate) {
  candidates_.push_back(std::move(candidate));
  submit(candidates_.size() - 1);
}

void CandidatesUnderWay::submit(size_t index) {
  pool_.submit(index, {candidates_[index].source, candidates_[index].spec.arch, {}});
}

size_t CandidatesUnderWay::wanted() const {
  if (pool_.compiling() >= threads_ || pool_.pending() >= most()) return 0;
  return std::min(usual_batch() - pool_.compiling(), most() - pool_.pending());
}

size_t CandidatesUnderWay::wanted_at_first(size_t seeds) const {
  return std::clamp(seeds, usual_batch(), 2 * usual_batch());
}

std::optional<CandidatesUnderWay::Compiled> CandidatesUnderWay::next_for(
    std::chrono::milliseconds timeout) {
  auto outcome = pool_.next_for(timeout);
  if (!outcome) return std::nullopt;
  if (!jit::was_killed(outcome->result)) killed_.ended();
  return Compiled{candidates_[outcome->index], std::move(outcome->result), outcome->index};
}

Expected<bool> CandidatesUnderWay::compile_again(const Compiled& killed) {
  auto again = killed_.again(killed.candidate.key, killed.result.error());
  if (again && *again) submit(killed.index);
  return again;
}

}  // namespace gemmtune::tuner
