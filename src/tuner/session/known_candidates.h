#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "store/record.h"
#include "tuner/search/search.h"
#include "tuner/session/candidate.h"
#include "tuner/session/finalists.h"
#include "tuner/session/prior_knowledge.h"

namespace gemmtune::tuner {

// Turns what is recorded of a job into candidates that a session knows, and need not try: the
// search learns their times, and the finalists are chosen among them too.
class KnownCandidates {
 public:
  // All but the version, which is the compiler's, outlive the object; `job` has the problem in its
  // canonical form.
  KnownCandidates(const store::Job& job, Search& search, PriorKnowledge& prior,
                  Finalists& finalists, std::string compiler_version)
      : job_(job),
        search_(search),
        prior_(prior),
        finalists_(finalists),
        compiler_version_(std::move(compiler_version)) {}

  // The candidate that the session makes of a point.
  Candidate make(const Choice& choice) const;

  // Whether a candidate, whoever tries it, is one that the session could try.
  bool may_try(const store::CandidateKey& key);

  // Takes over what earlier runs recorded of the job, best first, and suggests the best of what is
  // stale of it.
  void resume(std::span<const store::Record> records);

  // Takes over what was recorded since, but for what the session counted itself.
  void take_over_news(std::span<const store::Record> records);

  // The session tried a candidate itself.
  void count(const store::CandidateKey& key) { counted_.insert(key); }

  // How many were taken over.
  int resumed() const { return resumed_; }

 private:
  std::optional<Candidate> candidate_of(const store::CandidateKey& key) const;
  void take_over(const store::Record& record, Candidate candidate, bool defends);

  const store::Job& job_;
  Search& search_;
  PriorKnowledge& prior_;
  Finalists& finalists_;
  std::string compiler_version_;
  int resumed_ = 0;
  std::set<store::CandidateKey> counted_;        // as resumed or tried
  std::map<store::CandidateKey, bool> may_try_;  // what may_try() found
};

}  // namespace gemmtune::tuner
