#pragma once

// What tests of bench share: a device that times by a table, and choices as the library makes them.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/bench/bench.h"
#include "app/common/problems.h"
#include "codegen/strategy.h"
#include "tuner/session/candidate.h"

namespace gemmtune::app::bench_test {

inline constexpr const char* kAlgorithm = "algo=21 tile=128x256";

// Times of cuBLASLt's algorithms by rank, and of kernels by strategy.
struct Card {
  std::map<int, double> vendor = {{0, 20}, {1, 16}, {3, 18}};
  std::map<std::string, double> kernels = {{"naive", 40}, {"smem_tile", 10}};
  std::set<std::string> wrong;  // strategies
  int finals = 0;               // comparisons that were run
};

inline store::Measurement measurement_of(double us) {
  store::Measurement measurement;
  measurement.median_us = us;
  measurement.ci_low_us = us * 0.99;
  measurement.ci_high_us = us * 1.01;
  measurement.min_us = us;
  measurement.sample_count = 7;
  return measurement;
}

class CardEvaluator final : public tuner::Evaluator {
 public:
  explicit CardEvaluator(Card& card) : card_(card) {}

  // Brief measurements are 10% off.
  Expected<std::vector<tuner::VendorResult>> measure_vendor() override {
    std::vector<tuner::VendorResult> results;
    for (const auto& [rank, us] : card_.vendor) results.push_back(result(rank, us * 1.1));
    return results;
  }
  Expected<tuner::Evaluation> evaluate(const tuner::Candidate& candidate,
                                       const jit::CompiledKernel&) override {
    tuner::Evaluation evaluation;
    if (card_.wrong.contains(candidate.key.strategy)) {
      evaluation.outcome = store::Outcome::wrong_result;
      evaluation.reason = "planted";
    }
    return evaluation;
  }
  void add_vendor_finalist(int rank) override { ranks_.insert(rank); }
  Expected<tuner::FinalResults> finish(std::span<const tuner::Finalist> finalists) override {
    ++card_.finals;
    tuner::FinalResults results;
    for (const tuner::Finalist& finalist : finalists) {
      tuner::Evaluation evaluation;
      evaluation.measurement = measurement_of(card_.kernels.at(finalist.candidate.key.strategy));
      results.finalists.push_back(evaluation);
    }
    if (card_.vendor.empty()) return results;
    ranks_.insert({0, 1});
    for (const int rank : ranks_) results.vendor.push_back(result(rank, card_.vendor.at(rank)));
    return results;
  }

 private:
  static tuner::VendorResult result(int rank, double us) {
    tuner::VendorResult result;
    result.rank = rank;
    result.config = "rank=" + std::to_string(rank) + " ";
    result.config += rank == 3 ? kAlgorithm : "algo=" + std::to_string(rank);
    result.measurement = measurement_of(us);
    return result;
  }

  Card& card_;
  std::set<int> ranks_;
};

// Without compiling anything.
inline Expected<tuner::Finalist> make_kernel(const codegen::KernelSpec& spec) {
  tuner::Finalist finalist;
  finalist.candidate.spec = spec;
  finalist.candidate.key = {std::string(spec.strategy->name()), to_string(spec.tile), "hash",
                            "13.0"};
  return finalist;
}

inline BenchServices services_of(Card& card) {
  BenchServices services;
  services.make_evaluator = [&card](const Problem&) -> Expected<std::unique_ptr<tuner::Evaluator>> {
    return std::make_unique<CardEvaluator>(card);
  };
  services.make_kernel = make_kernel;
  return services;
}

// A stored kernel that the choices below refer to.
inline const dispatch::StoredKernel& stored_kernel() {
  static const dispatch::StoredKernel kStored = {"", "", "hash", "13.0", {9, 0, false}};
  return kStored;
}

inline dispatch::Choice kernel_choice(const char* strategy, const Problem& problem,
                                      std::optional<dispatch::Origin> origin) {
  dispatch::Choice choice;
  choice.route = dispatch::Choice::Route::kernel;
  choice.spec = codegen::spec_for(**codegen::find_strategy(strategy), {}, problem, {9, 0, false});
  choice.stored = &stored_kernel();
  choice.origin = origin;
  choice.reason = "as the test has it";
  return choice;
}

inline dispatch::Choice algorithm_choice(const std::string& config) {
  dispatch::Choice choice;
  choice.route = dispatch::Choice::Route::vendor_algorithm;
  choice.vendor_config = config;
  choice.origin = dispatch::Origin::same_model;
  return choice;
}

inline WantedProblem wanted_of(const Problem& problem, const char* group = "g", int64_t count = 1) {
  return {problem, key(problem), group, "", count};
}

}  // namespace gemmtune::app::bench_test
