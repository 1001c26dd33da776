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
  return {"_finish", "finish", kMmaFinishThreads, "kFinishThreads"};
}

}  // namespace gemmtune::codegen::mma
