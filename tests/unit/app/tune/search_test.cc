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
