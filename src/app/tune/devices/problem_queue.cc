#include "app/tune/devices/problem_queue.h"

#include <algorithm>
#include <utility>

namespace gemmtune::app {

ProblemQueue::ProblemQueue(std::vector<size_t> order, std::vector<std::optional<size_t>> begun_on)
    : waiting_(std::move(order)), begun_on_(std::move(begun_on)) {}

ProblemQueue::Place ProblemQueue::find(size_t device) const {
  const auto preferred = std::find_if(waiting_.begin(), waiting_.end(), [&](size_t problem) {
    return begun_on_[problem].value_or(device) == device;
  });
  if (preferred != waiting_.end()) return preferred;
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [&](size_t problem) { return !kept_for_.contains(problem); });
}

std::optional<size_t> ProblemQueue::next(size_t device) {
  const Place chosen = find(device);
  if (chosen == waiting_.end()) return std::nullopt;
  const size_t problem = *chosen;
  waiting_.erase(chosen);
  return problem;
}

bool ProblemQueue::give_back(size_t problem, size_t device) {
  if (!given_back_.insert(problem).second) return false;
  begun_on_[problem] = device;
  kept_for_[problem] = device;
  waiting_.insert(waiting_.begin(), problem);
  return true;
}

void ProblemQueue::leave_out(size_t device) {
  std::erase_if(kept_for_, [&](const auto& kept) { return kept.second == device; });
}

}  // namespace gemmtune::app
