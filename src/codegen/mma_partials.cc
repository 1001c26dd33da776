#include "codegen/mma_partials.h"

#include "parts/shared/partial_tiles.h"

namespace gemmtune::codegen::mma {

int64_t slot_bytes(const TileConfig& tile) {
  return int64_t{slot_floats(tile)} * static_cast<int64_t>(sizeof(float));
}

int finish_blocks(const TileConfig& tile, int slots) {
  return finish_blocks_of_tile(slot_floats(tile), finish_ways(slots));
}

EntryPoint finish_entry_point() {
  return {"_finish", "finish", kMmaFinishThreads, "kFinishThreads", 0};
}

KernelLaunch finish_launch(int64_t blocks) {
  return {1, {static_cast<unsigned>(blocks), 1, 1}, {kMmaFinishThreads, 1, 1}, {}, 0};
}

}  // namespace gemmtune::codegen::mma
