#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/compile.h"
#include "store/record.h"
#include "tuner/measure/sustained.h"
#include "tuner/model/calibration.h"
#include "tuner/session/candidate.h"

namespace gemmtune::tuner {

// What became of a candidate that compiled.
struct Evaluation {
  store::Outcome outcome = store::Outcome::ok;
  std::string reason;
  std::optional<store::Measurement> measurement;
  std::optional<double> predicted_us;
  std::optional<double> max_error;
  std::optional<double> vendor_max_error;
  double time_us = std::numeric_limits<double>::infinity();  // what the search minimises
  std::optional<SustainedLoad> sustained;  // of a final round that was asked for it
  // Set if nothing more can be evaluated in this process: what happened and what to do. The session
  // records this candidate and ends with that error.
  std::string fatal;
};

// A vendor algorithm that was measured beside the candidates.
struct VendorResult {
  int rank = 0;        // in the heuristic's order; 0 is what a program gets that asks for one
  std::string config;  // "rank=0 algo=..."
  std::string library_version;
  store::Measurement measurement;
  std::optional<SustainedLoad> sustained;  // of a final round that was asked for it
};

// A candidate of the last comparison, with its machine code.
struct Finalist {
  Candidate candidate;
  jit::CompiledKernel kernel;
  double search_us = 0;  // as the search compares candidates; 0 where none did
  bool stays = true;     // takes part in the final round whatever heats say
};

struct FinalResults {
  // Parallel to what finish() was given; nothing of those that did not reach the final round.
  std::vector<std::optional<Evaluation>> finalists;
  // First heuristic, best of all, and those that were added, measured in the same rounds.
  std::vector<VendorResult> vendor;
};

struct FinalRoundOptions {
  double turn_seconds = 0;  // of turns at most, but for three of each; 0: no limit
  bool sustained = false;   // all that have all turns run without a rest, too
};

// Evaluates candidates: on a device by running them, without one by the model.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Called once, before any candidate: the vendor's algorithms, each measured briefly. Empty where
  // there are none.
  virtual Expected<std::vector<VendorResult>> measure_vendor() = 0;

  // Verifies and measures (or predicts) one candidate. An error ends the session; what is wrong
  // with the candidate is an outcome.
  virtual Expected<Evaluation> evaluate(const Candidate& candidate,
                                        const jit::CompiledKernel& kernel) = 0;

  // Has finish() measure one more of the vendor's algorithms, of the rank that measure_vendor()
  // gave it, beside the first and the best.
  virtual void add_vendor_finalist(int /*rank*/) {}

  // Compares the best candidates and the vendor in turns; of many candidates, those that short
  // heats leave (heats.h).
  virtual Expected<FinalResults> finish(std::span<const Finalist> finalists) = 0;

  // What predicted times are corrected by; null: nothing. Measured ones are what they are.
  virtual void calibrate(std::shared_ptr<const Calibration> /*calibration*/) {}

  // How long a device has worked since this object was made: verified and measured, copies of
  // operands and results included. 0 without a device.
  virtual double busy_seconds() const { return 0; }

  // How long it waited, in that time, for other processes that use the device.
  virtual double waited_seconds() const { return 0; }
};

}  // namespace gemmtune::tuner
