#include "core/config_spelling.h"

#include <doctest/doctest.h>

namespace gemmtune {
namespace {

TEST_CASE("configs of old databases, lines and packs as they are spelled now") {
  struct Row {
    std::string_view strategy;
    std::string_view before;
    std::string_view now;
    Arch arch = {9, 0, false};
  };
  constexpr Row kRows[] = {
      {"multistage", "tile_m=64 stages=3 ahead=2", "tile_m=64 stages=3 ahead=2"},
      {"double_buffer", "tile_m=64 copy=1", "tile_m=64 copy=1"},
      {"split_k", "tile_m=64 stages=2 slices=4", "tile_m=64 stages=2 slices=4"},
      {"split_k", "tile_m=64 stages=3 slices=4", "tile_m=64 stages=3 copy=1 slices=4"},
      {"mma_multistage", "stages=3 order=1 fragments=1 unroll=1",
       "stages=3 order=1 copy=1 fragments=1 promotion=1"},
      {"mma_split_k", "stages=2 unroll=2 groups=2", "stages=2 promotion=2 groups=2", {7, 5, false}},
      {"mma_stream_k", "stages=3 fragments=1 slices=264 unroll=2",
       "stages=3 copy=1 fragments=1 promotion=2 sharing_blocks=264"},
      {"gemv", "tile_m=1 stages=1 warps=4 unroll=2",
       "tile_m=1 copy=2 fragments=1 warps=4 unroll=2"},
      {"gemv", "tile_m=1 stages=2 warps=4 unroll=2",
       "tile_m=1 copy=2 fragments=2 warps=4 unroll=2"},
      {"gemv", "tile_m=1 stages=4 warps=4 unroll=2",
       "tile_m=1 stages=4 copy=1 fragments=1 warps=4 unroll=2"},
      {"skinny", "tile_m=8 stages=4 warps=8 unroll=4",
       "tile_m=8 stages=4 copy=1 copy_scope=1 fragments=1 warps=8 unroll=4"},
      {"skinny", "tile_m=8 tile_k=64 stages=1 warps=8 unroll=4",
       "tile_m=8 tile_k=64 copy=2 fragments=1 warps=8 unroll=4"},
      // Without a new spelling.
      {"multistage", "stages=3 unroll=4", "stages=3 unroll=4"},
      {"split_k", "stages=3 unroll=4", "stages=3 copy=1 unroll=4"},
      {"cublaslt", "rank=2 algo=66", "rank=2 algo=66"},
      {"gemv", "future=1", "future=1"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.strategy);
    CHECK(current_config(row.strategy, row.before, row.arch) == row.now);
  }
}

TEST_CASE("mma_stream_k's slices are sharing_blocks") {
  const auto now = [](std::string_view config) { return current_config("mma_stream_k", config); };
  CHECK(now("stages=3 slices=264 raster=1 promotion=2") ==
        "stages=3 raster=1 promotion=2 sharing_blocks=264");
  CHECK(now("stages=3 sharing_blocks=264") == "stages=3 sharing_blocks=264");
  CHECK(now("slices=132 future=1") == "slices=132 future=1");
  CHECK(current_config("mma_split_k", "slices=4") == "slices=4");
  CHECK(current_config("cublaslt", "rank=2 algo=66") == "rank=2 algo=66");
}

}  // namespace
}  // namespace gemmtune
