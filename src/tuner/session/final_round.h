#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/session/failures.h"
#include "tuner/session/finalists.h"
#include "tuner/session/recorder.h"
#include "tuner/session/session.h"

namespace gemmtune::tuner {

// The end of a search: its best candidates measured once more, side by side with the vendor's
// algorithms, recorded, and ranked in the report.
class FinalRound {
 public:
  FinalRound(const SessionServices& services, const Finalists& best, Recorder& recorder,
             TuneReport& report, Failures& failures)
      : services_(services),
        best_(best),
        recorder_(recorder),
        report_(report),
        failures_(failures) {}

  // False if no candidate is left that compiles: there is nothing to compare.
  Expected<bool> run();

 private:
  Expected<std::vector<Finalist>> finalists();
  Expected<std::optional<Finalist>> with_code(Finalists::Scored scored);
  Expected<void> record(std::span<const Finalist> finalists, const FinalResults& results);
  void keep_best(std::vector<Finalist>& finalists);

  const SessionServices& services_;
  const Finalists& best_;
  Recorder& recorder_;
  TuneReport& report_;
  Failures& failures_;
};

}  // namespace gemmtune::tuner
