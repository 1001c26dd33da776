#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tuner/measure/device_turns.h"
#include "tuner/session/evaluator.h"

namespace gemmtune::tuner {

// An evaluator that uses its device in turns with those of other processes.
class EvaluatorInTurns final : public Evaluator {
 public:
  EvaluatorInTurns(std::unique_ptr<Evaluator> evaluator, std::shared_ptr<const DeviceTurns> turns,
                   std::chrono::milliseconds longest_wait = std::chrono::seconds(60))
      : evaluator_(std::move(evaluator)),
        turns_(std::move(turns)),
        longest_wait_(longest_wait),
        longest_(longest_wait) {}

  Expected<std::vector<VendorResult>> measure_vendor() override {
    const auto turn = take_turn();
    return evaluator_->measure_vendor();
  }
  Expected<Evaluation> evaluate(const Candidate& candidate,
                                const jit::CompiledKernel& kernel) override {
    const auto turn = take_turn();
    return evaluator_->evaluate(candidate, kernel);
  }
  Expected<FinalResults> finish(std::span<const Finalist> finalists) override {
    const auto turn = take_turn();
    return evaluator_->finish(finalists);
  }
  void add_vendor_finalist(int rank) override { evaluator_->add_vendor_finalist(rank); }
  void calibrate(std::shared_ptr<const Calibration> calibration) override {
    evaluator_->calibrate(std::move(calibration));
  }
  double busy_seconds() const override { return evaluator_->busy_seconds(); }
  double waited_seconds() const override { return waited_.count(); }

 private:
  // Who did not end its turn in time is waited for no more, until it has.
  DeviceTurns::Turn take_turn() {
    const auto start = std::chrono::steady_clock::now();
    auto turn = turns_->take(longest_);
    waited_ += std::chrono::steady_clock::now() - start;
    longest_ = turn.is_alone() ? longest_wait_ : std::chrono::milliseconds(0);
    return turn;
  }

  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<const DeviceTurns> turns_;
  std::chrono::milliseconds longest_wait_;
  std::chrono::milliseconds longest_;  // of the next one
  std::chrono::duration<double> waited_{0};
};

}  // namespace gemmtune::tuner
