#include "core/config_spelling.h"

#include "core/tile_config.h"

namespace gemmtune {
namespace {

constexpr std::string_view kStreamK = "mma_stream_k";

void respell_mma(TileConfig& tile, Arch arch) {
  tile.copy = arch.number() >= kFirstAsyncArch ? kCopyAsync : kCopyRegisters;
  tile.promotion = tile.unroll;
  tile.unroll = 0;
}

void respell_stream_k(TileConfig& tile) {
  if (tile.sharing_blocks != 0) return;
  tile.sharing_blocks = tile.slices;
  tile.slices = 0;
}

void respell_split_k(TileConfig& tile) {
  tile.copy = tile.stages == 2 ? kCopyRegisters : kCopyAsync;
}

// Of gemv and skinny: 1 and 2 stages were chunks in registers.
void respell_stream(TileConfig& tile) {
  if (tile.stages > 2) {
    tile.copy = kCopyAsync;
    tile.fragments = 1;
  } else {
    tile.copy = kCopyDirect;
    tile.fragments = tile.stages;
    tile.stages = 0;
  }
}

}  // namespace

std::string current_config(std::string_view strategy, std::string_view old_config, Arch arch) {
  auto tile = parse_tile(old_config);
  if (!tile) return std::string(old_config);
  if (strategy.starts_with("mma_")) {
    respell_mma(*tile, arch);
    if (strategy == kStreamK) respell_stream_k(*tile);
  } else if (strategy == "split_k") {
    respell_split_k(*tile);
  } else if (strategy == "gemv" || strategy == "skinny") {
    if (strategy == "skinny" && tile->tile_k == 0) tile->copy_scope = kScopeWarp;
    respell_stream(*tile);
  } else {
    return std::string(old_config);
  }
  return to_string(*tile);
}

std::string current_config(std::string_view strategy, std::string_view old_config) {
  auto tile = parse_tile(old_config);
  if (!tile || strategy != kStreamK) return std::string(old_config);
  respell_stream_k(*tile);
  return to_string(*tile);
}

}  // namespace gemmtune
