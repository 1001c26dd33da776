#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "core/error.h"
#include "core/problem.h"
#include "tuner/model/model_judgement.h"
#include "tuner/model/regression_forest.h"

namespace gemmtune::tuner {

// A kernel that was measured, as a calibration learns from it.
struct CalibrationSample {
  std::string strategy;
  Problem problem;
  std::vector<float> features;  // candidate_features()
  double predicted_us = 0;      // by the model alone
  double measured_us = 0;
};

CalibrationSample calibration_sample(const codegen::KernelSpec& spec, const Problem& problem,
                                     const DeviceSpec& device, double measured_us);

// What the performance model gets wrong on the devices of an arch, learnt from kernels that were
// measured there: the model's time is multiplied by what a forest (RegressionForest) expects of the
// kernel. It knows the strategies only of which enough was measured; the times of others stay.
//
// It may be fitted on another calibration, its base: then it is learnt what that gets wrong, so
// that what was measured once is not lost with the measurements.
class Calibration {
 public:
  // What a strategy has to have been measured of to be learnt.
  static constexpr size_t kFewestProblems = 4;
  static constexpr size_t kFewestCandidates = 100;

  struct Estimate {
    double us = 0;
    double spread = 1;  // a factor: e to the power of the standard deviation over the trees
  };

  // Fails with ErrorKind::not_found where no strategy has enough samples.
  static Expected<Calibration> fit(std::span<const CalibrationSample> samples, uint64_t seed,
                                   std::shared_ptr<const Calibration> base = nullptr);

  bool knows(std::string_view strategy) const;

  // Measured kernels that it was fitted to, without those of its base.
  size_t candidates() const;

  // `predicted_us` is the model's time of the kernel, with as many registers as are known to be
  // used.
  Estimate estimate(const codegen::KernelSpec& spec, const Problem& problem,
                    const DeviceSpec& device, double predicted_us) const;
  Estimate estimate(const CalibrationSample& sample) const;

  // What it was fitted on, or null.
  const std::shared_ptr<const Calibration>& base() const { return base_; }

  // The sample's time by the base, or by the model alone.
  double base_us(const CalibrationSample& sample) const;

  // How far times are off, as a factor (ModelJudgement::spread), of shapes that a calibration of
  // the same samples had not seen; nothing where that was not judged.
  std::optional<double> held_out_spread() const { return held_out_spread_; }
  void set_held_out_spread(double spread) { held_out_spread_ = spread; }

  // As JSON. from_json() fails with ErrorKind::failed for a text that is none, and with
  // ErrorKind::unsupported for one of a version of the program that looked at other features.
  std::string to_json() const;
  static Expected<Calibration> from_json(std::string_view text);

 private:
  friend struct CalibrationJson;

  struct OfStrategy {
    std::string name;
    size_t problems = 0;
    size_t candidates = 0;
  };

  const OfStrategy* find(std::string_view strategy) const;
  std::vector<float> own_features(std::string_view strategy, std::vector<float> features) const;
  Estimate estimate(std::string_view strategy, std::vector<float> features,
                    double predicted_us) const;

  std::vector<OfStrategy> strategies_;  // by name
  RegressionForest forest_;
  std::shared_ptr<const Calibration> base_;  // or null
  std::optional<double> held_out_spread_;
};

// The time of a kernel that is not compiled yet, in microseconds: the model's, as `calibration`
// corrects it unless that is null; infinity where the model says that it cannot run.
double expected_us(const codegen::KernelSpec& spec, const Problem& problem,
                   const DeviceSpec& device, const Calibration* calibration);

// How well a calibration orders and predicts these samples, strategies ranked against each other.
ModelJudgement judge(const Calibration& calibration, std::span<const CalibrationSample> samples);

// How well the model knows a strategy by itself, and with a calibration that was fitted on other
// shapes than the one that is judged.
struct HeldOutJudgement {
  std::string strategy;
  ModelJudgement model;
  ModelJudgement calibrated;
};

// Of the strategies that `whole`, a calibration of these samples, knows, by name; and of all of
// them together, ranked against each other, as the last one, whose name is empty. The shapes are
// parted in ten; what is fitted to nine has the base of `whole`.
std::vector<HeldOutJudgement> judge_held_out(const Calibration& whole,
                                             std::span<const CalibrationSample> samples,
                                             uint64_t seed);

}  // namespace gemmtune::tuner
