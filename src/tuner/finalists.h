#pragma once

#include <optional>
#include <vector>

#include "tuner/candidate.h"

namespace gemmtune::tuner {

// The candidates that a session measures side by side at its end: the fastest few, at most two of
// one geometry, and the best of what was recorded before. A search measures in short series and
// between pauses; under a lasting load, at the power limit, geometries that need less energy may
// change places with others, while variants of one stay close. Times of an earlier session were
// taken at other clocks altogether, so its best takes part whatever they say.
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
