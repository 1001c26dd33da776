#include "app/tune/searches.h"

#include "app/tune/search.h"

namespace gemmtune::app {

Searches::Searches(const TunePlan& plan, const tuner::Equipment& equipment,
                   store::RecordStore& store, const std::atomic<bool>& stop)
    : plan_(plan), equipment_(equipment), store_(store), stop_(stop), turns_(planned_order(plan)) {}

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
  return begin_search(plan_.problems[turns_[turn]].request, equipment_, store_, stop_);
}

}  // namespace gemmtune::app
