#include "dispatch/similar_lead.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/winner.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::request_for;
using dispatch_test::Row;

// What was measured of a problem, here unless said otherwise.
struct TunedSizes {
  std::string problem;
  double kernel_us = 10;
  double vendor_us = 20;
  const char* uuid = dispatch_test::kHere;
  const char* strategy = "naive";
  std::string config = "tile_m=8 tile_n=32";
  bool stale = false;
};

Snapshot snapshot_of_sizes(const std::vector<TunedSizes>& tuned) {
  std::vector<Row> rows;
  for (const TunedSizes& one : tuned) {
    Row row{one.uuid, one.kernel_us, one.vendor_us, one.config};
    row.problem = one.problem;
    row.strategy = one.strategy;
    row.stale = one.stale;
    rows.push_back(row);
  }
  return dispatch_test::snapshot_of(rows);
}

std::string lender_of(const std::vector<TunedSizes>& tuned, const Request& request) {
  return dispatch_test::lender_of(snapshot_of_sizes(tuned), request);
}

std::string lender_of(const std::vector<TunedSizes>& tuned, const std::string& problem) {
  return lender_of(tuned, request_for(problem));
}

const std::string kCube = "f32/f32/ieee/ttt/512x512x512";

TEST_CASE("a kernel that is far ahead is lent to problems of other sizes, up to three doublings") {
  const std::vector<TunedSizes> tuned = {{kCube}};
  for (const char* near : {"516x520x524", "1024x1024x1024", "4096x512x512", "64x512x512"})
    CHECK(lender_of(tuned, std::string("f32/f32/ieee/ttt/") + near) == kCube);
  for (const char* far : {"1024x1024x1028", "60x512x512", "4096x1024x512"})
    CHECK(lender_of(tuned, std::string("f32/f32/ieee/ttt/") + far) == "cuBLASLt");
}

TEST_CASE("one that is less than 1.8 times as fast, stale or not compared is not lent") {
  const std::string problem = "f32/f32/ieee/ttt/520x520x520";
  CHECK(lender_of({{kCube, 10, 18}}, problem) == kCube);
  CHECK(lender_of({{kCube, 10, 17.9}}, problem) == "cuBLASLt");
  CHECK(lender_of({{kCube, 10, 0}}, problem) == "cuBLASLt");
  CHECK(lender_of({{kCube, 0, 20}}, problem) == "cuBLASLt");
  TunedSizes stale = {kCube};
  stale.stale = true;
  CHECK(lender_of({stale}, problem) == "cuBLASLt");
  CHECK(lender_of({{kCube, 10, 20, dispatch_test::kTwin}}, problem) == kCube);
  CHECK(lender_of({{kCube, 10, 20, dispatch_test::kSister}}, problem) == kCube);
  CHECK(lender_of({{kCube, 10, 20, dispatch_test::kOther}}, problem) == "cuBLASLt");
}

// Twice as many rows took a kernel for 16 twice as long, and cuBLASLt no longer.
TEST_CASE("a kernel for few rows is not lent to more") {
  // In batches of TF32, whose times nobody estimates.
  const auto of_rows = [](int m) { return fmt::format("f32/f32/tf32/ttt/{}x512x512/batch=2", m); };
  const auto is_lent = [&](int measured, int m) {
    const TunedSizes tuned = {
        of_rows(measured),
        10,
        20,
        dispatch_test::kHere,
        "mma_multistage",
        "tile_m=32 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=5 copy=1 fragments=1"};
    return lender_of({tuned}, of_rows(m)) == of_rows(measured);
  };
  CHECK(is_lent(16, 15));
  CHECK_FALSE(is_lent(16, 17));
  CHECK_FALSE(is_lent(127, 128));
  CHECK_FALSE(is_lent(127, 500));
  CHECK(is_lent(128, 500));
  CHECK(is_lent(1000, 200));
}

TEST_CASE("the nearest problem decides, also where another one is far ahead") {
  const std::string nearer = "f32/f32/ieee/ttt/600x512x512";
  CHECK(lender_of({{kCube}, {nearer, 10, 15}}, "f32/f32/ieee/ttt/640x512x512") == "cuBLASLt");
  CHECK(lender_of({{kCube, 10, 15}, {nearer}}, "f32/f32/ieee/ttt/640x512x512") == nearer);
}

TEST_CASE("problems of another kind lend nothing") {
  for (const char* other :
       {"f32/f32/tf32/ttt/512x512x520", "f32/f32/ieee/tnt/512x512x520",
        "f32/f32/ieee/ttt/512x512x520/align=16", "f32/f32/ieee/ttt/512x512x520/epilogue=relu",
        "f32/f32/ieee/ttt/512x512x520/batch=2", "bf16/f32/ieee/ttt/512x512x520"}) {
    CHECK(lender_of({{kCube}}, other) == "cuBLASLt");
  }
}

TEST_CASE("rows that begin on multiples of other numbers of bytes are another kind") {
  CHECK(lender_of({{kCube}}, "f32/f32/ieee/ttt/513x512x512") == kCube);  // no leading dimension
  CHECK(lender_of({{kCube}}, "f32/f32/ieee/ttt/512x513x512") == "cuBLASLt");
  CHECK(lender_of({{kCube}}, "f32/f32/ieee/ttt/512x514x512") == "cuBLASLt");
  CHECK(lender_of({{kCube}}, "f32/f32/ieee/ttt/512x516x512") == kCube);
  const std::string odd = "f32/f32/ieee/ttt/512x511x512";
  CHECK(lender_of({{odd}}, "f32/f32/ieee/ttt/512x1023x512") == odd);
  CHECK(lender_of({{odd}}, "f32/f32/ieee/ttt/512x510x512") == "cuBLASLt");
}

TEST_CASE("entries of a batch may be more or fewer, and begin on multiples of as many bytes") {
  const std::string batch = "f32/f32/ieee/ttt/512x512x512/batch=4";
  CHECK(lender_of({{batch}}, "f32/f32/ieee/ttt/512x512x512/batch=16") == batch);
  CHECK(lender_of({{batch}}, "f32/f32/ieee/ttt/512x512x512/batch=64") == "cuBLASLt");
  CHECK(lender_of({{batch}}, "f32/f32/ieee/ttt/512x512x512/batch=4/stride=262145,262144,262144") ==
        "cuBLASLt");
}

// What a kernel of 256x512x512 has as edge where it is lent to so many rows; -1 where it is not.
int edge_lent(const char* strategy, const std::string& tile, int rows) {
  const Snapshot snapshot = snapshot_of_sizes(
      {{"bf16/f32/ieee/tnt/256x512x512", 10, 20, dispatch_test::kHere, strategy, tile}});
  const auto request = request_for(fmt::format("bf16/f32/ieee/tnt/{}x1024x512", rows));
  const Choice first = decide(snapshot, request, dispatch_test::target()).choices.at(0);
  return first.route == Choice::Route::kernel ? first.spec.tile.edge : -1;
}

TEST_CASE("a kernel whose tiles stick far out of A is lent if they can end with C") {
  const std::string tile = "tile_m=128 tile_n=64 tile_k=64 stages=4 consumers=2";
  CHECK(edge_lent("wgmma_tma", tile, 384) == 0);
  CHECK(edge_lent("wgmma_tma", tile, 140) == 1);
  const std::string sharing = tile + " sharing_blocks=132";
  CHECK(edge_lent("wgmma_stream_k", sharing, 384) == 0);
  CHECK(edge_lent("wgmma_stream_k", sharing, 140) == -1);
}

TEST_CASE("a kernel that may not run here leaves it to the next nearest") {
  const TunedSizes illegal = {"f32/f32/ieee/ttt/600x512x512", 10,      20,
                              dispatch_test::kHere,           "naive", "tile_m=7 tile_n=33"};
  CHECK(lender_of({{kCube}, illegal}, "f32/f32/ieee/ttt/640x512x512") == kCube);
  CHECK(lender_of({illegal}, "f32/f32/ieee/ttt/640x512x512") == "cuBLASLt");
}

TEST_CASE("split products that are added up on the tensor cores are measured where they run") {
  const std::string tile =
      "tile_m=128 tile_n=128 tile_k=32 stages=3 raster=1 consumers=2 cluster_m=1 cluster_n=2 "
      "persistent_blocks=132 promotion=";
  const auto lender_with = [&](const std::string& config) {
    TunedSizes one = {"f32/f32/3xtf32/ttt/2048x2048x2048"};
    one.strategy = "wgmma_tf32_planes";
    one.config = config;
    return lender_of({one}, "f32/f32/3xtf32/ttt/2048x1024x2048");
  };
  CHECK(lender_with(tile + "1") == "f32/f32/3xtf32/ttt/2048x2048x2048");
  CHECK(lender_with(tile + "8") == "cuBLASLt");
}

TEST_CASE("in a program a lent kernel takes cuBLAS's place, with scaled times") {
  const Snapshot snapshot = snapshot_of_sizes({{kCube, 10, 20}});
  Request request = request_for("f32/f32/ieee/ttt/1024x512x512");
  const auto found = dispatch_test::winner(snapshot, request, dispatch_test::target());
  REQUIRE(found.has_value());
  CHECK(found->own_us == 20);
  CHECK(found->vendor_us == 40);
  CHECK(found->choice.reason ==
        "2.00 times as fast as cuBLASLt for f32/f32/ieee/ttt/512x512x512, measured on this device");
  const auto none =
      dispatch_test::winner(snapshot_of_sizes({{kCube, 10, 15}}), request, dispatch_test::target());
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == kNotTuned);
}

TEST_CASE("in a program kernels that are taken for want of cuBLASLt do not take its place") {
  const std::string nearer = "f32/f32/ieee/ttt/600x512x512";
  const Snapshot snapshot = snapshot_of_sizes({{kCube}, {nearer, 10, 15}});
  Target alone = dispatch_test::target();
  alone.vendor = false;
  const Request request = request_for("f32/f32/ieee/ttt/640x512x512");
  CHECK(decide(snapshot, request, alone).choices.at(0).route == Choice::Route::kernel);
  CHECK_FALSE(dispatch_test::winner(snapshot, request, alone));
}

TEST_CASE("where C is read, a lent kernel has to be further ahead") {
  const Snapshot snapshot = snapshot_of_sizes({{kCube, 1, 1.85}});
  Request request = request_for("f32/f32/ieee/ttt/512x516x512");
  CHECK(dispatch_test::winner(snapshot, request, dispatch_test::target()));
  request.reads_c = true;
  CHECK_FALSE(dispatch_test::winner(snapshot, request, dispatch_test::target()));
}

// One for 16 columns read A twice for 32, and was lent to a product that cuBLASLt is faster at.
TEST_CASE("a kernel for few columns is lent to no more") {
  const std::string kind = "f32/f32/ieee/tnt/";
  const std::vector<TunedSizes> tuned = {{kind + "2048x16x5120"}};
  CHECK(lender_of(tuned, kind + "1696x16x6848") == kind + "2048x16x5120");
  CHECK(lender_of(tuned, kind + "1696x8x6848") == kind + "2048x16x5120");
  CHECK(lender_of(tuned, kind + "1696x32x6848") == "cuBLASLt");
}

}  // namespace
}  // namespace gemmtune::dispatch
