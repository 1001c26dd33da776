#pragma once

#include <atomic>
#include <vector>

#include "app/tune/begun_ahead.h"
#include "app/tune/plan.h"
#include "store/record_store.h"
#include "tuner/session/setup.h"

namespace gemmtune::app {

// The searches for a plan's problems, one after the other on one device. While one has the device
// to itself for its last comparison, the next one begins: it is ranked, and its first candidates
// are compiled.
class Searches {
 public:
  // All are the caller's and outlive the object.
  Searches(const TunePlan& plan, const tuner::Equipment& equipment, store::RecordStore& store,
           const std::atomic<bool>& stop);
  Searches(const Searches&) = delete;
  Searches& operator=(const Searches&) = delete;

  // The search for the plan's next problem that is not skipped; begun now, unless it has begun.
  Expected<tuner::Tuning> next();

  // Instead of next(), for a problem that cannot be tuned.
  void drop_next();

  // Begins the next one in a thread of its own, if there is one. Where a device measures; the model
  // predicts while it compiles anyway.
  void begin_ahead();

 private:
  Expected<tuner::Tuning> begin();

  const TunePlan& plan_;
  const tuner::Equipment& equipment_;
  store::RecordStore& store_;
  const std::atomic<bool>& stop_;
  std::vector<size_t> turns_;                  // problems, in their order
  size_t turn_ = 0;                            // whose search begins next
  BegunAhead<Expected<tuner::Tuning>> begun_;  // last: its thread uses what is above
};

}  // namespace gemmtune::app
