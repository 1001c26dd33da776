#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "jit/compile.h"
#include "tuner/session/candidate.h"

namespace gemmtune::tuner {

// The candidates that a session measures side by side at its end: those that are close to the
// fastest, at most two of one geometry, and the best of what was recorded before. A search measures
// in short series and between pauses; under a lasting load, at the power limit, geometries that
// need less energy may change places with others, while variants of one stay close. Times of an
// earlier session were taken at other clocks altogether, so its best takes part whatever they say.
class Finalists {
 public:
  struct Scored {
    double time_us = 0;
    Candidate candidate;
    // The code that was timed; null where another session or process timed it.
    std::shared_ptr<const jit::CompiledKernel> kernel;
  };

  // Takes note of a candidate; one without a finite time is none. Of equally fast ones, the first
  // by name comes first, in whatever order they were found.
  void add(Scored found);
  // The same, of the best candidate of earlier sessions.
  void add_defender(Scored found);

  // Fastest first, the defender last where it is not among them: at least as many as take part in a
  // final round, where there are so many, and several times that where they are close.
  std::vector<Scored> chosen() const;
  bool defends(const Candidate& candidate) const {
    return defender_ && defender_->candidate.key == candidate.key;
  }

  const Scored* fastest() const { return best_.empty() ? nullptr : &best_.front(); }
  bool has_defender() const { return defender_.has_value(); }

 private:
  std::vector<Scored> best_;  // fastest first
  std::optional<Scored> defender_;
};

}  // namespace gemmtune::tuner
