#include "app/tune/searches.h"

#include <utility>

#include "app/tune/search.h"

namespace gemmtune::app {

Searches::Searches(const Context& context, const TunePlan& plan, const tuner::Equipment& equipment,
                   std::unique_ptr<store::RecordStore> store, const std::atomic<bool>& stop)
    : plan_(plan), equipment_(equipment), stop_(stop), stores_(context, std::move(store)) {
  for (const size_t i : plan.order) {
    if (plan.problems[i].skipped.empty()) turns_.push_back(i);
  }
}

Expected<tuner::Tuning> Searches::next() {
  const size_t turn = turn_++;
  if (begun_ahead_.valid()) return begun_ahead_.get();
  return begin(turn);
}

void Searches::drop_next() {
  ++turn_;
  begun_ahead_ = {};
}

void Searches::begin_ahead() {
  if (!equipment_.device || turn_ >= turns_.size() || begun_ahead_.valid() || stop_.load()) return;
  begun_ahead_ = std::async(std::launch::async, [this, turn = turn_] { return begin(turn); });
}

Expected<tuner::Tuning> Searches::begin(size_t turn) {
  auto store = stores_.next();
  if (!store) return tl::unexpected(store.error());
  return begin_search(plan_.problems[turns_[turn]].request, equipment_, **store, stop_);
}

}  // namespace gemmtune::app
