#include "vendor/algorithm_names.h"

#include <cublasLt.h>
#include <doctest/doctest.h>

using namespace gemmtune::vendor;  // NOLINT(google-build-using-namespace)

// The names are generated from the pattern that the header's list follows: check the ends of each
// run and ids from all over against the header.
TEST_CASE("tile ids have the header's names") {
#define CHECK_TILE(size) CHECK(tile_name(CUBLASLT_MATMUL_TILE_##size) == #size)
  CHECK_TILE(8x8);
  CHECK_TILE(128x128);
  CHECK_TILE(128x256);
  CHECK_TILE(256x128);
  CHECK_TILE(160x128);
  CHECK_TILE(256x32);
#if CUBLAS_VER_MAJOR >= 13  // older headers end here
  CHECK_TILE(8x128);
  CHECK_TILE(32x192);
  CHECK_TILE(64x768);
  CHECK_TILE(72x640);
  CHECK_TILE(128x384);
  CHECK_TILE(640x64);
  CHECK_TILE(768x64);
  CHECK_TILE(64x16);
  CHECK_TILE(128x392);
  CHECK_TILE(128x208);
  CHECK_TILE(256x248);
  CHECK_TILE(192x328);
  CHECK_TILE(768x80);
  CHECK_TILE(256x512);
  CHECK_TILE(512x1024);
#endif
#undef CHECK_TILE
  CHECK(tile_name(0) == "auto");
  CHECK(tile_name(99999) == "#99999");
  CHECK(tile_name(-1) == "#-1");
}

TEST_CASE(
    "what a stored config says of the algorithm, without its place in the heuristic's order") {
  CHECK(without_rank("rank=3 algo=21 tile=128x256") == "algo=21 tile=128x256");
  CHECK(without_rank("algo=21 rank=3") == "algo=21 rank=3");
  CHECK(without_rank("rank=3").empty());
  CHECK(without_rank("").empty());
}

TEST_CASE("stage and cluster ids have the header's names") {
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_UNDEFINED) == "auto");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_16x1) == "16x1");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_64x4) == "64x4");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_128x6) == "128x6");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_8x3) == "8x3");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_64xAUTO) == "64xauto");
  CHECK(stages_name(29) == "#29");
  CHECK(stages_name(999) == "#999");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_AUTO) == "auto");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_2x1x1) == "2x1x1");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_1x16x1) == "1x16x1");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_7x1x1) == "7x1x1");
  CHECK(cluster_name(1) == "#1");
  CHECK(cluster_name(500) == "#500");
}
