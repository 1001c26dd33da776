// Searches that follow each other, with the real compiler and without a device.
#include "app/tune/searches.h"

#include <doctest/doctest.h>
#include <spdlog/logger.h>

#include "../../jit/real_nvrtc.h"
#include "../../test_folder.h"
#include "app/common/records.h"

namespace gemmtune::app {
namespace {

// All kernels take as long.
class EvenEvaluator final : public tuner::Evaluator {
 public:
  Expected<std::vector<tuner::VendorResult>> measure_vendor() override {
    return std::vector<tuner::VendorResult>();
  }
  Expected<tuner::Evaluation> evaluate(const tuner::Candidate&,
                                       const jit::CompiledKernel&) override {
    return measured();
  }
  Expected<tuner::FinalResults> finish(std::span<const tuner::Finalist> finalists) override {
    tuner::FinalResults results;
    for (size_t i = 0; i < finalists.size(); ++i) results.finalists.emplace_back(measured());
    return results;
  }

 private:
  static tuner::Evaluation measured() {
    tuner::Evaluation out;
    out.time_us = 10;
    out.measurement.emplace();
    out.measurement->median_us = out.measurement->ci_low_us = out.measurement->ci_high_us =
        out.measurement->min_us = 10;
    out.measurement->sample_count = 1;
    return out;
  }
};

codegen::SearchSpace one_tile() {
  auto space = codegen::parse_search_space(
      R"({"strategy": "naive", "values": {"tile_m": [16], "tile_n": [16]}})", "test");
  REQUIRE_MESSAGE(space.has_value(), (space ? "" : space.error().message));
  return std::move(*space);
}

struct Bench {
  TestFolder folder;
  Context context;
  TunePlan plan;
  tuner::Equipment equipment;
  std::atomic<bool> stop = false;
  std::unique_ptr<store::RecordStore> store;

  // Of problems of m = 64, 128, 256; the second one is skipped.
  Bench() {
    context.places.db = folder.file("tuned.db");
    context.log = std::make_shared<spdlog::logger>("silent");
    auto opened = open_records(context, false);
    REQUIRE(opened);
    store = *std::move(opened);
    Device device;
    device.name = "Fictional GPU";
    device.uuid = "GPU-00000000-0000-0000-0000-000000000001";
    device.arch = {8, 0, false};
    equipment.device = device;
    equipment.limits = representative_device(device.arch);
    equipment.compiler = std::make_shared<jit::Compiler>(jit::real_nvrtc());
    for (const int64_t m : {64, 128, 256}) {
      PlannedProblem planned;
      planned.request.problem = make_problem({m, 64, 64});
      planned.request.spaces = {one_tile()};
      planned.request.max_candidates = 4;
      if (m == 128) planned.skipped = "for a test";
      plan.order.push_back(plan.problems.size());
      plan.problems.push_back(planned);
    }
  }

  Searches searches() { return {plan, equipment, *store, stop}; }
};

// Of the problem that a search is for.
int64_t rows_of(Expected<tuner::Tuning> tuning) {
  REQUIRE_MESSAGE(tuning.has_value(), (tuning ? "" : tuning.error().message));
  EvenEvaluator evaluator;
  const auto report = std::move(*tuning).run(evaluator, {});
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(report->evaluated == 1);
  return report->job.problem.shape.m;
}

}  // namespace

TEST_CASE_FIXTURE(Bench, "searches follow each other, begun ahead or not") {
  for (const bool ahead : {false, true}) {
    plan.problems[0].request.fresh = plan.problems[2].request.fresh = true;
    Searches all = searches();
    auto first = all.next();
    if (ahead) all.begin_ahead();
    CHECK(rows_of(std::move(first)) == 64);
    CHECK(rows_of(all.next()) == 256);
    all.begin_ahead();  // there is none
  }
}

TEST_CASE_FIXTURE(Bench, "a problem that is dropped has no search any more") {
  for (const bool ahead : {false, true}) {
    Searches all = searches();
    if (ahead) all.begin_ahead();
    all.drop_next();
    CHECK(rows_of(all.next()) == 256);
    plan.problems[2].request.fresh = true;
  }
}

}  // namespace gemmtune::app
