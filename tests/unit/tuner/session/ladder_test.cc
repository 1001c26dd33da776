#include "tuner/session/ladder.h"

#include <doctest/doctest.h>

#include <string>

#include "session_fixture.h"
#include "tuner/session/model_evaluator.h"

namespace gemmtune::tuner {
namespace {

// What the evaluators of a ladder were asked.
struct Log {
  int evaluators = 0;
  int searched = 0;                              // candidates
  std::vector<std::vector<std::string>> finals;  // strategies of each last comparison
  std::string wrong_strategy;                    // whose kernels are all wrong
  std::string wrong_in_final_round;
  std::atomic<bool>* stop = nullptr;
  int stop_after = 0;  // candidates
};

// The formula, with or without a vendor beside it.
class LoggedEvaluator final : public Evaluator {
 public:
  LoggedEvaluator(Log& log, bool with_vendor) : log_(log), with_vendor_(with_vendor) {
    ++log.evaluators;
  }
  Expected<std::vector<VendorResult>> measure_vendor() override {
    if (!with_vendor_) return std::vector<VendorResult>{};
    return formula_.measure_vendor();
  }
  Expected<Evaluation> evaluate(const Candidate& candidate,
                                const jit::CompiledKernel& kernel) override {
    if (++log_.searched == log_.stop_after) log_.stop->store(true);
    if (candidate.key.strategy != log_.wrong_strategy) return formula_.evaluate(candidate, kernel);
    Evaluation evaluation;
    evaluation.outcome = store::Outcome::wrong_result;
    return evaluation;
  }
  Expected<FinalResults> finish(std::span<const Finalist> finalists) override {
    auto results = formula_.finish(finalists);
    if (!with_vendor_) {
      results->vendor.clear();
      return results;
    }
    log_.finals.emplace_back();
    for (size_t i = 0; i < finalists.size(); ++i) {
      const std::string& strategy = finalists[i].candidate.key.strategy;
      log_.finals.back().push_back(strategy);
      if (strategy != log_.wrong_in_final_round) continue;
      results->finalists[i].emplace();
      results->finalists[i]->outcome = store::Outcome::wrong_result;
      results->finalists[i]->reason = "planted";
    }
    return results;
  }

 private:
  session_test::FormulaEvaluator formula_;
  Log& log_;
  bool with_vendor_;
};

struct LadderFixture : session_test::Fixture {
  Log log;
  LadderServices ladder;

  LadderFixture() {
    request.spaces = {
        session_test::space_of(
            R"({"strategy": "naive", "values": {"tile_m": [8, 16, 32], "tile_n": [32]}})"),
        session_test::small_space()};
    ladder.session = services;
    ladder.make_evaluator = [this](bool with_vendor) -> Expected<std::unique_ptr<Evaluator>> {
      return std::make_unique<LoggedEvaluator>(log, with_vendor);
    };
  }
  LadderReport climbed() {
    auto report = climb(request, ladder);
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
    return std::move(*report);
  }
};

TEST_CASE_FIXTURE(LadderFixture, "each strategy's best, compared with the vendor in one round") {
  const LadderReport report = climbed();
  REQUIRE(report.rungs.size() == 2);
  CHECK(report.rungs[0].best->key.config == "tile_m=32 tile_n=32");
  CHECK(report.rungs[0].best->measurement->median_us == 114);
  CHECK(report.rungs[0].tried == 3);
  CHECK(report.rungs[0].loads.global == 8);
  CHECK(report.rungs[0].loads.shared == 0);
  CHECK(report.rungs[1].best->measurement->median_us == 50);
  CHECK(report.rungs[1].tried == 12);
  CHECK(report.rungs[1].loads.shared == doctest::Approx(4.0 / 8 + 4.0 / 4));
  CHECK(report.vendor.best->measurement->median_us == 100);
  CHECK(log.finals == std::vector<std::vector<std::string>>{{"naive", "double_buffer"}});
  CHECK_FALSE(report.interrupted);
  // The final round is in the history of what it measured.
  CHECK(store->history(report.rungs[0].best->id)->size() == 3);
  CHECK(store->best(request.problem, filter())->value().id == report.rungs[1].best->id);
}

TEST_CASE_FIXTURE(LadderFixture, "the last comparison runs the code that the searches timed") {
  compiler->caching = false;
  climbed();
  CHECK(log.finals.front().size() == 2);
  CHECK(compiler->most_often() == 1);
}

TEST_CASE_FIXTURE(LadderFixture, "what was tried is not searched again, unless asked for") {
  request.max_candidates = 3;
  const LadderReport first = climbed();
  CHECK(log.searched == 6);
  log = {};
  const LadderReport second = climbed();
  CHECK(log.searched == 0);
  CHECK(log.evaluators == 1);  // that of the final round
  CHECK(second.rungs[1].best->id == first.rungs[1].best->id);
  CHECK(second.rungs[1].tried == 3);
  request.max_candidates = 5;
  climbed();
  CHECK(log.searched == 2);  // naive has no more tiles
  request.fresh = true;
  climbed();
  CHECK(log.searched == 2 + 3 + 5);
}

TEST_CASE_FIXTURE(LadderFixture, "a strategy that fails is a note, the others go on") {
  log.wrong_strategy = "naive";
  const LadderReport report = climbed();
  CHECK_FALSE(report.rungs[0].best);
  CHECK(report.rungs[0].note == "no candidate worked, 3 wrong_result");
  CHECK(report.rungs[1].best);
  CHECK(log.finals.front().size() == 1);
}

TEST_CASE_FIXTURE(LadderFixture, "a kernel that is wrong in the final round is no result") {
  log.wrong_in_final_round = "double_buffer";
  const LadderReport report = climbed();
  CHECK(report.rungs[0].best);
  CHECK_FALSE(report.rungs[1].best);
  CHECK(report.rungs[1].note == "wrong_result: planted");
}

TEST_CASE_FIXTURE(LadderFixture, "a ladder on which nothing works is an error") {
  log.wrong_strategy = "naive";
  request.spaces.pop_back();
  const auto report = climb(request, ladder);
  REQUIRE_FALSE(report);
  CHECK(report.error().kind == ErrorKind::failed);
  CHECK(log.finals.empty());
}

TEST_CASE_FIXTURE(LadderFixture, "an interrupted ladder shows the rungs that it has") {
  std::atomic<bool> stop{false};
  ladder.session.stop = &stop;
  log.stop = &stop;
  log.stop_after = 3;
  const LadderReport report = climbed();
  CHECK(report.interrupted);
  REQUIRE(report.rungs.size() == 1);
  CHECK(report.rungs[0].best);
  CHECK(log.finals.size() == 1);
}

TEST_CASE_FIXTURE(LadderFixture, "without a device each rung is a prediction of its own") {
  ladder.session.device.reset();
  int verified = 0;
  ladder.make_evaluator = [&](bool with_vendor) -> Expected<std::unique_ptr<Evaluator>> {
    CHECK_FALSE(with_vendor);
    return std::make_unique<ModelEvaluator>(request.problem, services.limits,
                                            [&](const codegen::KernelSpec&) -> Expected<Verdict> {
                                              ++verified;
                                              return Verdict{};
                                            });
  };
  const LadderReport report = climbed();
  CHECK(verified == 2);
  for (const Rung& rung : report.rungs) {
    REQUIRE(rung.best);
    CHECK(rung.best->provenance == store::Provenance::predicted);
    CHECK(rung.best->outcome == store::Outcome::ok);
  }
  CHECK_FALSE(report.vendor.best);
}

}  // namespace
}  // namespace gemmtune::tuner
