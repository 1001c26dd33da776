#include "codegen/mma_partials.h"

#include "../../kernels_templates/parts/mma_finish_pieces.h"

namespace gemmtune::codegen::mma {

int partial_tile_bytes(const TileConfig& tile) {
  return tile.tile_m * (tile.tile_n + kPartialPadding) * static_cast<int>(sizeof(float));
}

int64_t slot_bytes(const TileConfig& tile) {
  return int64_t{tile.tile_m} * tile.tile_n * static_cast<int64_t>(sizeof(float));
}

int finish_blocks(const TileConfig& tile, int slots) {
  return finish_pieces(tile.tile_m * tile.tile_n, finish_ways(slots));
}

EntryPoint finish_entry_point() {
  return {"_finish", "finish", kMmaFinishThreads, "kFinishThreads"};
}

}  // namespace gemmtune::codegen::mma
