#pragma once

#include <optional>
#include <vector>

#include "tuner/candidate.h"

namespace gemmtune::tuner {

// The candidates that a session measures side by side at its end: the fastest few, and the best of
// what was recorded before, which takes part whatever the times say. Those of an earlier session
// were taken at other clocks.
class Finalists {
 public:
  struct Scored {
    double time_us = 0;
    Candidate candidate;
  };

  // Takes note of a candidate; one without a finite time is none.
  void add(double time_us, Candidate candidate);
  // The same, of the best candidate of earlier sessions.
  void add_defender(double time_us, Candidate candidate);

  // Fastest first, the defender last where it is not among them.
  std::vector<Candidate> chosen() const;

  const Scored* fastest() const { return best_.empty() ? nullptr : &best_.front(); }
  bool has_defender() const { return defender_.has_value(); }

 private:
  std::vector<Scored> best_;  // fastest first
  std::optional<Candidate> defender_;
};

}  // namespace gemmtune::tuner
