#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "store/record_store.h"
#include "tuner/session/candidate.h"

namespace gemmtune::tuner {

// The work of a job that processes share: candidates wait here, in the order in which the search
// wants them, until they are free to be tried. What another process holds keeps its place: it is
// free again if that process ends. Every error is the store's.
class SharedWork {
 public:
  // `store` outlives the object. `counts` tells which candidates are of this work, whoever tries
  // them.
  SharedWork(store::RecordStore& store, store::Job job,
             std::function<bool(const store::CandidateKey&)> counts);

  // To be called first. `afresh`: what is recorded already may be tried again.
  Expected<void> start(bool afresh);

  // What was recorded since start() or the last call, by this process too.
  Expected<std::vector<store::Record>> news();

  // Adds a candidate behind those that wait.
  void offer(Candidate candidate) { waiting_.push_back(std::move(candidate)); }

  // Takes on up to `count` candidates that are free. `left` is how many more may be tried of the
  // job, by whoever tries them, beyond what news() told of; those in hand count.
  Expected<std::vector<Candidate>> take(size_t count, int left);

  // Tries one of those in hand no more, without a result: it leaves its place in the budget to
  // another. Others may try it after release().
  void give_up_one() { ++given_up_; }

  // Whether take() found that others hold candidates, or recorded some that news() will tell of:
  // until then nothing is known to be left undone.
  bool others_at_work() const { return others_at_work_; }

  // Whether take() left candidates alone because `left` was used up.
  bool budget_used_up() const { return budget_used_up_; }

  // Keeps what is in hand for two minutes from now. To be called every few seconds at least, once
  // candidates are tried. What is taken on before the first call is kept for ten minutes: a search
  // that has begun waits until its device is free.
  Expected<void> renew();

  // Gives back what is in hand.
  Expected<void> release();

 private:
  using Clock = std::chrono::steady_clock;

  void drop_finished(const std::vector<store::ClaimState>& states);

  store::RecordStore& store_;
  store::Job job_;
  std::function<bool(const store::CandidateKey&)> counts_;
  store::ClaimOwner owner_;
  int64_t repeat_until_ = 0;  // revisions
  int64_t known_ = 0;
  std::deque<Candidate> waiting_;
  int given_up_ = 0;  // in hand still
  bool others_at_work_ = false;
  bool budget_used_up_ = false;
  std::optional<Clock::time_point> renewed_;
};

}  // namespace gemmtune::tuner
