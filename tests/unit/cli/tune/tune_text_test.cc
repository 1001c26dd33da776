#include "cli/tune/tune_text.h"

#include <doctest/doctest.h>

#include <string>

#include "../../contains.h"

namespace gemmtune::cli {
namespace {

store::Record measured(const char* strategy, double low_us, double median_us, double high_us) {
  store::Record record;
  record.job = {make_problem({1024, 1024, 1024}), {9, 0, false}, "GPU-1", false};
  record.key = {strategy, "tile_m=128 tile_n=64 tile_k=8", "00ff", "13.0"};
  store::Measurement measurement;
  measurement.ci_low_us = low_us;
  measurement.median_us = median_us;
  measurement.ci_high_us = high_us;
  measurement.sample_count = 7;
  record.measurement = measurement;
  return record;
}

app::TunedProblem tuned(const store::Record& own, const store::Record& vendor) {
  app::TunedProblem tuned;
  tuned.report.emplace();
  tuned.report->ranking = {own};
  tuned.report->vendor.best = vendor;
  return tuned;
}

TEST_CASE("a tuning says how sure its margin over cuBLASLt is") {
  const store::Record own = measured("double_buffer", 99, 100, 102);
  const store::Record slower = measured("cublaslt", 108, 110, 111);
  const std::string ahead = tune_text(tuned(own, slower));
  CHECK(contains(ahead, "rank 1 is 1.100 times as fast as cuBLASLt's best (1.059 to 1.121)\n"));
  const store::Record like = measured("cublaslt", 100, 101, 102);
  CHECK(contains(tune_text(tuned(own, like)), "(0.980 to 1.030: they may be equally fast)\n"));
}

TEST_CASE("a tuning that ended early says what the last candidates gained, and more would") {
  app::TunedProblem ended = tuned(measured("wgmma_tma", 99, 100, 102), {});
  ended.report->vendor.best.reset();
  CHECK_FALSE(contains(tune_text(ended), "expected"));
  ended.report->expected_gain = 0.0031;
  ended.report->without_gain = 52;
  CHECK(
      contains(tune_text(ended), "; the last 52 gained nothing, more are expected to gain 0.3%;"));
}

TEST_CASE("the summary of several problems says what the model learnt from them") {
  app::TuneSummary summary;
  for (int i = 0; i < 2; ++i)
    summary.problems.push_back(tuned(measured("wgmma_tma", 99, 100, 102), {}));
  CHECK_FALSE(contains(tune_summary_text(summary), "learnt"));
  summary.fit.emplace();
  summary.fit->judged.emplace_back();
  summary.fit->judged.back().calibrated.candidates = 3214;
  summary.fit->judged.back().calibrated.spread = 1.152;
  summary.fit->judged.back().model.spread = 1.34;
  CHECK(contains(
      tune_summary_text(summary),
      "the model learnt from 3214 candidates: times of other shapes are off by a factor of "
      "1.15 (1.34 without)\n"));
}

TEST_CASE("what all calls take is compared with cuBLASLt's best and with what programs get of it") {
  app::TuneSummary summary;
  summary.problems = {
      tuned(measured("wgmma_tma", 99, 100, 101), measured("cublaslt", 109, 110, 111)),
      tuned(measured("wgmma_tma", 99, 100, 101), measured("cublaslt", 79, 80, 81))};
  summary.problems[0].wanted.count = 10;
  summary.problems[1].report->vendor.first = measured("cublaslt", 99, 100, 101);
  CHECK(step_line(summary) ==
        "all calls of these: cuBLASLt's best 1.180 ms, own kernels 1.100 ms (1.073x), the faster "
        "of both 1.080 ms (1.093x); cuBLASLt's first choice, which programs get, 1.200 ms "
        "(1.111x)\n");
}

TEST_CASE("a tuning that waited for compilers says so") {
  app::TunedProblem waited = tuned(measured("wgmma_tma", 99, 100, 102), {});
  waited.report->vendor.best.reset();
  waited.report->seconds = 10;
  waited.report->spent.waiting = 1.5;
  CHECK_FALSE(contains(tune_text(waited), "compilers"));
  waited.report->spent.waiting = 4.2;
  CHECK(contains(tune_text(waited), ", 42% spent waiting for compilers\n"));
}

TEST_CASE("a prediction says how far such ones were off, and has no margin") {
  app::TunedProblem predicted = tuned(measured("wgmma_tma", 0, 0, 0), {});
  predicted.report->vendor.best.reset();
  predicted.report->ranking[0].measurement.reset();
  predicted.report->ranking[0].predicted_us = 50;
  predicted.report->predicted_spread = 1.15;
  const std::string text = tune_text(predicted);
  CHECK(contains(text, "off by a factor of 1.15"));
  CHECK_FALSE(contains(text, "times as fast"));
}

}  // namespace
}  // namespace gemmtune::cli
