#pragma once

#include "core/device.h"
#include "tuner/session/evaluator.h"
#include "tuner/verify/verdict.h"

namespace gemmtune::tuner {

// Evaluates candidates by the performance model, from the registers the compiler really used.
// Nothing runs on a GPU: times are predictions and recorded as such. The winner is verified by
// `verifier`, if given.
class ModelEvaluator final : public Evaluator {
 public:
  ModelEvaluator(const Problem& problem, DeviceSpec device, HostVerifier verifier)
      : problem_(problem), device_(std::move(device)), verifier_(std::move(verifier)) {}

  Expected<std::vector<VendorResult>> measure_vendor() override;  // none
  Expected<Evaluation> evaluate(const Candidate& candidate,
                                const jit::CompiledKernel& kernel) override;
  Expected<FinalResults> finish(std::span<const Finalist> finalists) override;
  void calibrate(std::shared_ptr<const Calibration> calibration) override {
    calibration_ = std::move(calibration);
  }

 private:
  double predicted_us(const codegen::KernelSpec& spec, const jit::CompiledKernel& kernel) const;

  Problem problem_;
  DeviceSpec device_;
  HostVerifier verifier_;
  std::shared_ptr<const Calibration> calibration_;
};

}  // namespace gemmtune::tuner
