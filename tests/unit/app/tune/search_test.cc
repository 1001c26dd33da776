#include "app/tune/search.h"

#include <doctest/doctest.h>

namespace gemmtune::app {

TEST_CASE("a search tries as many as were asked for, else as many as what it costs allows") {
  const Problem problem = make_problem({1, 2, 3});
  Target target;
  SearchOptions options;
  CHECK(make_request(options, {360, 96}, problem, {}, target).max_candidates == 96);
  target.device = Device{};
  CHECK(make_request(options, {360, 96}, problem, {}, target).max_candidates == 360);
  options.candidates = 5;
  CHECK(make_request(options, {360, 96}, problem, {}, target).max_candidates == 5);
}

TEST_CASE("a budget is a time or a number of candidates") {
  const auto seconds = [](const char* text) {
    SearchOptions options;
    REQUIRE_MESSAGE(take_budget(text, options).has_value(), text);
    CHECK_FALSE(options.candidates);
    return options.seconds;
  };
  CHECK(seconds("30s") == 30);
  CHECK(seconds("5m") == 300);
  CHECK(seconds("1.5h") == 5400);
  SearchOptions options;
  REQUIRE(take_budget("200", options));
  CHECK(options.candidates == 200);
  CHECK(options.seconds == 0);
  for (const char* text : {"", "s", "0", "-1", "0s", "-3s", "nans", "infs", "1e9h", "30 s", "30S",
                           "2.5", "1000001", "99999999999", "30sec"}) {
    SearchOptions untouched;
    const auto taken = take_budget(text, untouched);
    REQUIRE_FALSE_MESSAGE(taken.has_value(), text);
    CHECK(taken.error().kind == ErrorKind::usage);
    CHECK(taken.error().message.find("30s") != std::string::npos);
    CHECK_FALSE(untouched.candidates);
    CHECK(untouched.seconds == 0);
  }
}

TEST_CASE("a search has a method") {
  using tuner::SearchMethod;
  CHECK(parse_method("model").value() == SearchMethod::model);
  SearchOptions options;
  options.method = parse_method("random").value();
  CHECK(make_request(options, kTuneCandidates, {}, {}, {}).method == SearchMethod::random);
  CHECK(parse_method("exhaustive").value() == SearchMethod::exhaustive);
  for (const char* text : {"", "all", "Model", "model "}) {
    REQUIRE_FALSE(parse_method(text).has_value());
    CHECK(parse_method(text).error().kind == ErrorKind::usage);
  }
}

TEST_CASE("a search has the threads that were asked for, else one per core") {
  SearchOptions options;
  CHECK(make_request(options, kTuneCandidates, {}, {}, {}).threads >= 1);
  options.jobs = 3;
  options.fresh = options.warm = true;
  options.seed = 7;
  options.seconds = 2.5;
  const tuner::TuneRequest request = make_request(options, kTuneCandidates, {}, {}, {});
  CHECK(request.threads == 3);
  CHECK(request.fresh);
  CHECK(request.warm);
  CHECK(request.seed == 7);
  CHECK(request.max_seconds == 2.5);
}

}  // namespace gemmtune::app
