#include "vendor/algorithm_names.h"

#include <doctest/doctest.h>

using namespace gemmtune::vendor;  // NOLINT(google-build-using-namespace)

// cublaslt_header_test.cc compares more of them with the header of cuBLASLt.
TEST_CASE("ids have names, and those without one are numbers") {
  CHECK(tile_name(0) == "auto");
  CHECK(tile_name(1) == "8x8");
  CHECK(tile_name(23) == "128x256");
  CHECK(tile_name(35) == "256x32");
  CHECK(tile_name(36) == "8x128");
  CHECK(tile_name(99999) == "#99999");
  CHECK(tile_name(-1) == "#-1");
  CHECK(stages_name(0) == "auto");
  CHECK(stages_name(16) == "64x4");
  CHECK(stages_name(29) == "#29");
  CHECK(stages_name(999) == "#999");
  CHECK(cluster_name(0) == "auto");
  CHECK(cluster_name(3) == "2x1x1");
  CHECK(cluster_name(1) == "#1");
  CHECK(cluster_name(500) == "#500");
}

TEST_CASE(
    "what a stored config says of the algorithm, without its place in the heuristic's order") {
  CHECK(without_rank("rank=3 algo=21 tile=128x256") == "algo=21 tile=128x256");
  CHECK(without_rank("algo=21 rank=3") == "algo=21 rank=3");
  CHECK(without_rank("rank=3").empty());
  CHECK(without_rank("").empty());
}
