#include "tuner/session/model_evaluator.h"

#include <cmath>

#include "tuner/model/performance_model.h"
#include "tuner/session/heats.h"

namespace gemmtune::tuner {

double ModelEvaluator::predicted_us(const codegen::KernelSpec& spec,
                                    const jit::CompiledKernel& kernel) const {
  const double us = predict(spec, jit::most_registers(kernel.entries), problem_, device_).total_us;
  return calibration_ ? calibration_->estimate(spec, problem_, device_, us).us : us;
}

Expected<std::vector<VendorResult>> ModelEvaluator::measure_vendor() {
  return std::vector<VendorResult>{};
}

Expected<Evaluation> ModelEvaluator::evaluate(const Candidate& candidate,
                                              const jit::CompiledKernel& kernel) {
  Evaluation evaluation;
  evaluation.time_us = predicted_us(candidate.spec, kernel);
  if (!std::isfinite(evaluation.time_us)) {
    evaluation.outcome = store::Outcome::illegal;
    evaluation.reason = "not one block fits an SM";
    return evaluation;
  }
  evaluation.outcome = store::Outcome::not_run;
  evaluation.predicted_us = evaluation.time_us;
  return evaluation;
}

Expected<FinalResults> ModelEvaluator::finish(std::span<const Finalist> finalists) {
  FinalResults results;
  bool have_winner = false;
  for (const Finalist& finalist : finalists) {
    if (results.finalists.size() >= kInFinalRound) {
      results.finalists.emplace_back();
      continue;
    }
    Evaluation evaluation;
    evaluation.time_us = predicted_us(finalist.candidate.spec, finalist.kernel);
    evaluation.predicted_us = evaluation.time_us;
    evaluation.outcome = have_winner ? store::Outcome::not_run : store::Outcome::ok;
    if (!have_winner && verifier_) {
      auto verdict = verifier_(finalist.candidate.spec);
      if (!verdict) return tl::unexpected(verdict.error());
      if (!verdict->correct()) {
        evaluation.outcome = store::Outcome::wrong_result;
        evaluation.reason = verdict->detail;
      }
      evaluation.max_error = verdict->max_error;
    }
    have_winner = have_winner || evaluation.outcome == store::Outcome::ok;
    results.finalists.push_back(std::move(evaluation));
  }
  return results;
}

}  // namespace gemmtune::tuner
