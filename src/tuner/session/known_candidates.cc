#include "tuner/session/known_candidates.h"

#include <cmath>
#include <utility>

namespace gemmtune::tuner {
namespace {

// Stale records of the problem itself that are tried again first.
constexpr size_t kRemeasured = 24;

double time_for_search(const store::Record& record) {
  const bool usable = record.outcome == store::Outcome::ok ||
                      record.outcome == store::Outcome::not_run ||
                      record.outcome == store::Outcome::eliminated_early;
  return usable ? store::time_us(record).value_or(INFINITY) : INFINITY;
}

}  // namespace

Candidate KnownCandidates::make(const Choice& choice) const {
  return make_candidate(search_, choice, job_.problem, job_.arch, compiler_version_);
}

// The candidate that the session would make of a record's strategy and tile; nothing if its spaces
// do not hold it.
std::optional<Candidate> KnownCandidates::candidate_of(const store::CandidateKey& key) const {
  const auto tile = parse_tile(key.config);
  const auto choice = tile ? search_.find(key.strategy, *tile) : std::nullopt;
  if (!choice) return std::nullopt;
  return make(*choice);
}

bool KnownCandidates::may_try(const store::CandidateKey& key) {
  const auto known = may_try_.find(key);
  if (known != may_try_.end()) return known->second;
  const auto candidate = candidate_of(key);
  return may_try_[key] = candidate && candidate->key == key;
}

void KnownCandidates::resume(std::span<const store::Record> records) {
  size_t remeasured = 0;
  for (const store::Record& record : records) {
    auto candidate = candidate_of(record.key);
    if (!candidate) continue;
    if (record.stale || candidate->key != record.key) {
      // Best first: what was good is measured again before anything else.
      if (record.outcome == store::Outcome::ok && remeasured++ < kRemeasured)
        prior_.suggest(record);
      continue;
    }
    const bool defends = record.outcome == store::Outcome::ok && !finalists_.has_defender();
    take_over(record, *std::move(candidate), defends);
  }
}

void KnownCandidates::take_over_news(std::span<const store::Record> records) {
  for (const store::Record& record : records) {
    if (counted_.contains(record.key)) continue;
    auto candidate = candidate_of(record.key);
    if (candidate && candidate->key == record.key) take_over(record, *std::move(candidate), false);
  }
}

void KnownCandidates::take_over(const store::Record& record, Candidate candidate, bool defends) {
  const double time_us = time_for_search(record);
  search_.report(candidate.choice, time_us);
  ++resumed_;
  counted_.insert(candidate.key);
  Finalists::Scored found{time_us, std::move(candidate), nullptr};
  if (defends) {
    finalists_.add_defender(std::move(found));
  } else {
    finalists_.add(std::move(found));
  }
}

}  // namespace gemmtune::tuner
