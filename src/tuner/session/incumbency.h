#pragma once

#include "tuner/measure/statistics.h"

namespace gemmtune::tuner {

// Where the incumbent stands: the one that a search measures its candidates in turns with. That is
// the vendor's best algorithm until an own kernel has been measured, and from then on an own one
// than which none was faster beyond doubt, faster than the vendor's or not: the vendor is what own
// kernels are measured against in the end, but which of them is the best is decided among them.
//
// Clocks drift through a search, so times of different minutes are not compared as they are:
// score_of() gives every candidate the time that it would have had at the clocks of the first
// incumbent, by its ratio to the incumbent beside it. All times are in microseconds.
//
// An error in an incumbent's score is in all scores after it. So a candidate takes its place only
// if it is faster beyond doubt, and with what a second comparison shows: in the first, of many that
// are alike, the luckiest are chosen.
class Incumbency {
 public:
  // Of the vendor's algorithm, or of the first own kernel where there is no vendor.
  static Incumbency of_vendor(double median_us) { return {false, median_us, median_us}; }
  static Incumbency of_first_own(double median_us) { return {true, median_us, median_us}; }

  // Whether one sample says enough of a candidate.
  bool hopeless(double sample_us) const { return own_ && sample_us > kHopeless * median_us_; }

  // Whether a short series does: `candidate_us` and `incumbent_us` are medians of samples in turns.
  bool unlikely(double candidate_us, double incumbent_us) const {
    return own_ && candidate_us >= kUnlikely * incumbent_us;
  }

  // The candidate's time as the search compares it.
  double score_of(double candidate_us, double incumbent_us) const {
    return candidate_us / incumbent_us * score_us_;
  }
  double score_of_sample(double sample_us) const { return score_of(sample_us, median_us_); }

  // Takes note of the incumbent's time in a comparison.
  void measured(double incumbent_us) { median_us_ = incumbent_us; }

  // Whether a comparison makes an own candidate the one to compare with: every one where that is
  // the vendor, and one that is faster beyond doubt.
  bool beaten(const MedianInterval& candidate, const MedianInterval& incumbent) const {
    return !own_ || candidate.high < kBeyondDoubt * incumbent.low;
  }

  // Makes an own candidate the incumbent, by medians that had no part in its choice.
  void replace(double candidate_us, double incumbent_us) {
    *this = {true, candidate_us, score_of(candidate_us, incumbent_us)};
  }

  double median_us() const { return median_us_; }  // when it was last measured

 private:
  static constexpr double kHopeless = 1.30;
  static constexpr double kUnlikely = 1.03;
  static constexpr double kBeyondDoubt = 0.99;

  Incumbency(bool own, double median_us, double score_us)
      : own_(own), median_us_(median_us), score_us_(score_us) {}

  bool own_;
  double median_us_;
  double score_us_;
};

}  // namespace gemmtune::tuner
