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

TEST_CASE("the sizes in a stored config are those of a row-major C") {
  const auto parsed = [](const char* config) { return algorithm_tile(config); };
  CHECK(parsed("rank=3 algo=66 tile=144x64 stages=64xauto cluster=1x4x1 splitk=1 reduction=0") ==
        AlgorithmTile{64, 144, 4, 1, 1});
  CHECK(parsed("rank=2 algo=66 tile=192x8 stages=64xauto cluster=4x1x1 splitk=5 custom=1") ==
        AlgorithmTile{8, 192, 1, 4, 5});
  CHECK(parsed("rank=1 algo=24 tile=256x128 stages=auto cluster=auto splitk=-1") ==
        AlgorithmTile{128, 256, 1, 1, 1});
  for (const char* config : {"", "rank=0 algo=1", "rank=0 algo=1 tile=auto", "algo=1 tile=#712",
                             "algo=1 tile=64", "algo=1 tile=64x", "algo=1 tile=-8x64"})
    CHECK(!parsed(config));
}
