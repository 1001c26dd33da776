#include "app/ladder/ladder.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "ladder_fixture.h"

namespace gemmtune::app {

using ladder_test::make_summary;
using nlohmann::json;

TEST_CASE("a rung's figures: share of the vendor's best, gain over the rung below") {
  const LadderSummary summary = make_summary();
  const auto figures = rung_figures(summary.report);
  REQUIRE(figures.size() == 4);
  CHECK(figures[0]->gflops == doctest::Approx(10000));
  CHECK(figures[0]->percent == doctest::Approx(40));
  CHECK_FALSE(figures[0]->gain);
  CHECK(figures[0]->flops_per_global_byte == 4);
  CHECK_FALSE(figures[0]->flops_per_shared_byte);
  CHECK(figures[1]->gain == doctest::Approx(1.6));
  CHECK(figures[1]->flops_per_shared_byte == 0.25);
  CHECK_FALSE(figures[2]);
  CHECK(figures[3]->gain == doctest::Approx(1.25));  // over the last that worked
}

TEST_CASE("ladder: JSON has every rung, null where nothing is known") {
  const json parsed = json::parse(ladder_json(make_summary()));
  CHECK(parsed["provenance"] == "measured");
  REQUIRE(parsed["rungs"].size() == 4);
  CHECK(parsed["rungs"][1]["percent_of_cublaslt"].get<double>() == doctest::Approx(64));
  CHECK(parsed["rungs"][1]["record"]["config"] == "tile_m=32 tile_n=32 tile_k=32");
  CHECK(parsed["rungs"][2]["record"].is_null());
  CHECK(parsed["rungs"][2]["gflops"].is_null());
  CHECK(parsed["rungs"][2]["note"] == "no candidate worked");
  CHECK(parsed["vendor_best"]["time_us"] == 80);
  CHECK(parsed["skipped"][0]["strategy"] == "multistage");
}

}  // namespace gemmtune::app
