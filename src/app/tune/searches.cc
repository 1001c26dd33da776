#include "app/tune/searches.h"

#include "app/tune/search.h"

namespace gemmtune::app {

Searches::Searches(const TunePlan& plan, const tuner::Equipment& equipment,
                   store::RecordStore& store, const std::atomic<bool>& stop)
    : plan_(plan),
      equipment_(equipment),
      store_(store),
      stop_(stop),
      turns_(planned_order(plan)),
      begun_([this] { return begin(); }) {}

Expected<tuner::Tuning> Searches::next() {
  return begun_.next();
}

void Searches::drop_next() {
  if (begun_.has_begun()) {
    begun_.drop();
  } else {
    ++turn_;
  }
}

void Searches::begin_ahead() {
  if (begun_.has_begun() || !equipment_.device || turn_ >= turns_.size() || stop_.load()) return;
  begun_.begin_ahead();
}

Expected<tuner::Tuning> Searches::begin() {
  return begin_search(plan_.problems[turns_[turn_++]].request, equipment_, store_, stop_);
}

}  // namespace gemmtune::app
