#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/model/calibration.h"
#include "tuner/search/search.h"
#include "tuner/session/prior_knowledge.h"
#include "tuner/session/session.h"
#include "tuner/session/settling.h"

namespace gemmtune::tuner {

// Which candidates a session tries next, and whether more are worth it: by the request's method,
// and with the model's first the seeds, then proposals. All arguments outlive the object.
class Chooser {
 public:
  // `calibration` is what the search's spaces are ranked by, or null.
  Chooser(const TuneRequest& request, Search& search, const PriorKnowledge& prior,
          const Calibration* calibration, bool predicted);

  // To be called once prior knowledge is complete, and again when more was suggested.
  void count_seeds();

  // Candidates that need no results of others to be chosen.
  size_t seeds() const { return seeds_; }

  // Up to `count` that were not handed out before; none if nothing is left. `known` candidates are
  // done, the best of them in `best_us`, and so many more are under way.
  std::vector<Choice> next(size_t count, int known, int under_way, std::optional<double> best_us);

  // Whether the search may end though candidates are left.
  bool ends_early() const { return request_.until_settled && settling_.settled(); }

  // Once what was under way is known: whether that did better than the search's end supposed.
  bool goes_on(int known, double best_us);

  // Why it ends early: the share by which more candidates were expected to gain, and how many
  // gained nothing.
  double expected_gain() const { return settling_.expected_gain(); }
  int without_gain() const { return settling_.without_gain(); }

 private:
  bool is_calibrated() const;

  const TuneRequest& request_;
  Search& search_;
  const PriorKnowledge& prior_;
  const Calibration* calibration_;
  bool predicted_;
  size_t seeds_ = 0;        // are tried before any proposal
  size_t asked_seeds_ = 0;  // of these
  Settling settling_;
};

}  // namespace gemmtune::tuner
