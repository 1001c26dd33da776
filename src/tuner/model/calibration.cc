#include "tuner/model/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "codegen/strategy.h"
#include "tuner/model/candidate_features.h"
#include "tuner/model/performance_model.h"

namespace gemmtune::tuner {
namespace {

// Chosen on 15,000 candidates of 165 problems, shapes held out (docs/performance.md, "Search").
constexpr RegressionForest::Options kForest = {16, 10, 1.0};
constexpr double kMostLogFactor = 1.5;  // what is further off says little of what is near
constexpr size_t kParts = 10;           // of the shapes, one of which is held out

bool usable(const CalibrationSample& sample) {
  return std::isfinite(sample.predicted_us) && sample.predicted_us > 0 && sample.measured_us > 0;
}

double log_factor(double measured_us, double predicted_us) {
  return std::clamp(std::log(measured_us / predicted_us), -kMostLogFactor, kMostLogFactor);
}

std::string shape_of(const CalibrationSample& sample) {
  return to_string(sample.problem.shape);
}

using Judges = std::map<std::string, ModelJudge>;

// Adds the candidates of each problem, of one strategy and of all.
void add_to(Judges& judges, std::span<const CalibrationSample> samples,
            std::span<const double> predicted_us) {
  std::map<std::string, std::map<std::string, std::vector<JudgedCandidate>>> of_problem;
  for (size_t i = 0; i < samples.size(); ++i) {
    const JudgedCandidate candidate{predicted_us[i], samples[i].measured_us};
    auto& candidates = of_problem[key(samples[i].problem)];
    candidates[samples[i].strategy].push_back(candidate);
    candidates[""].push_back(candidate);
  }
  for (const auto& [problem, by_strategy] : of_problem) {
    for (const auto& [strategy, candidates] : by_strategy) judges[strategy].add(candidates);
  }
}

}  // namespace

CalibrationSample calibration_sample(const codegen::KernelSpec& spec, const Problem& problem,
                                     const DeviceSpec& device, double measured_us) {
  return {std::string(spec.strategy->name()), problem, candidate_features(spec, problem, device),
          expected_us(spec, problem, device, nullptr), measured_us};
}

Expected<Calibration> Calibration::fit(std::span<const CalibrationSample> samples, uint64_t seed,
                                       std::shared_ptr<const Calibration> base) {
  struct Found {
    std::set<std::string> problems;
    size_t candidates = 0;
  };
  std::map<std::string, Found> found;
  for (const CalibrationSample& sample : samples) {
    if (!usable(sample)) continue;
    Found& of = found[sample.strategy];
    of.problems.insert(key(sample.problem));
    ++of.candidates;
  }
  Calibration out;
  out.base_ = std::move(base);
  for (const auto& [name, of] : found) {
    if (of.problems.size() < kFewestProblems || of.candidates < kFewestCandidates) continue;
    out.strategies_.push_back({name, of.problems.size(), of.candidates});
  }
  if (out.strategies_.empty()) {
    return make_error(ErrorKind::not_found, "no strategy has measurements of " +
                                                std::to_string(kFewestProblems) + " problems and " +
                                                std::to_string(kFewestCandidates) + " candidates");
  }
  std::vector<Sample> learnt;
  for (const CalibrationSample& sample : samples) {
    if (!usable(sample) || out.find(sample.strategy) == nullptr) continue;
    learnt.push_back({out.own_features(sample.strategy, sample.features),
                      static_cast<float>(log_factor(sample.measured_us, out.base_us(sample)))});
  }
  out.forest_ = RegressionForest::fit(learnt, seed, kForest);
  return out;
}

double Calibration::base_us(const CalibrationSample& sample) const {
  return base_ ? base_->estimate(sample).us : sample.predicted_us;
}

const Calibration::OfStrategy* Calibration::find(std::string_view strategy) const {
  const auto at = std::find_if(strategies_.begin(), strategies_.end(),
                               [&](const OfStrategy& of) { return of.name == strategy; });
  return at == strategies_.end() ? nullptr : &*at;
}

bool Calibration::knows(std::string_view strategy) const {
  return find(strategy) != nullptr || (base_ && base_->knows(strategy));
}

size_t Calibration::candidates() const {
  size_t all = 0;
  for (const OfStrategy& of : strategies_) all += of.candidates;
  return all;
}

// A strategy's number is its place among those that are known: that in the program's list changes.
std::vector<float> Calibration::own_features(std::string_view strategy,
                                             std::vector<float> features) const {
  features[strategy_feature()] = static_cast<float>(find(strategy) - strategies_.data());
  return features;
}

Calibration::Estimate Calibration::estimate(std::string_view strategy, std::vector<float> features,
                                            double predicted_us) const {
  if (!std::isfinite(predicted_us)) return {predicted_us, 1};
  Estimate estimate{predicted_us, 1};
  if (base_) estimate = base_->estimate(strategy, features, predicted_us);
  if (find(strategy) == nullptr) return estimate;
  const auto factor = forest_.estimate(own_features(strategy, std::move(features)));
  return {estimate.us * std::exp(factor.mean), std::exp(factor.deviation)};
}

Calibration::Estimate Calibration::estimate(const codegen::KernelSpec& spec, const Problem& problem,
                                            const DeviceSpec& device, double predicted_us) const {
  const std::string_view name = spec.strategy->name();
  if (!knows(name)) return {predicted_us, 1};
  return estimate(name, candidate_features(spec, problem, device), predicted_us);
}

Calibration::Estimate Calibration::estimate(const CalibrationSample& sample) const {
  return estimate(sample.strategy, sample.features, sample.predicted_us);
}

double expected_us(const codegen::KernelSpec& spec, const Problem& problem,
                   const DeviceSpec& device, const Calibration* calibration) {
  const int registers = spec.strategy->estimated_registers(spec);
  const double us = predict(spec, registers, problem, device).total_us;
  return calibration == nullptr ? us : calibration->estimate(spec, problem, device, us).us;
}

ModelJudgement judge(const Calibration& calibration, std::span<const CalibrationSample> samples) {
  std::vector<double> predicted_us;
  for (const CalibrationSample& sample : samples)
    predicted_us.push_back(calibration.estimate(sample).us);
  Judges judges;
  add_to(judges, samples, predicted_us);
  return judges[""].judgement();
}

std::vector<HeldOutJudgement> judge_held_out(const Calibration& whole,
                                             std::span<const CalibrationSample> samples,
                                             uint64_t seed) {
  std::map<std::string, size_t> part_of_shape;
  for (const CalibrationSample& sample : samples)
    part_of_shape.try_emplace(shape_of(sample), part_of_shape.size() % kParts);
  Judges of_model;
  Judges of_calibration;
  for (size_t part = 0; part < kParts; ++part) {
    std::vector<CalibrationSample> others;
    std::vector<CalibrationSample> judged;
    for (const CalibrationSample& sample : samples) {
      if (!whole.knows(sample.strategy)) continue;
      (part_of_shape[shape_of(sample)] == part ? judged : others).push_back(sample);
    }
    const auto calibration = Calibration::fit(others, seed, whole.base());
    std::vector<double> model_us;
    std::vector<double> calibrated_us;
    for (const CalibrationSample& sample : judged) {
      model_us.push_back(sample.predicted_us);
      calibrated_us.push_back(calibration ? calibration->estimate(sample).us
                                          : whole.base_us(sample));
    }
    add_to(of_model, judged, model_us);
    add_to(of_calibration, judged, calibrated_us);
  }
  std::vector<HeldOutJudgement> out;
  for (const auto& [strategy, judge] : of_model)
    out.push_back({strategy, judge.judgement(), of_calibration[strategy].judgement()});
  std::rotate(out.begin(), out.begin() + (out.empty() ? 0 : 1), out.end());
  return out;
}

}  // namespace gemmtune::tuner
