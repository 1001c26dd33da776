#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "codegen/strategy.h"

#include "parts/shared/gemm_args.h"

// What the stream-K strategies have in common on the host: what they can count. The device side is
// parts/shared/stream_k_ranges.h.

namespace gemmtune::codegen::stream_k {

// With the rules it keeps the number of shared k tiles, below
// 2 * sharing_blocks * ceil(k / tile_k), an int.
inline constexpr int64_t kMostK = int64_t{1} << 24;

// Of TileConfig::sharing_blocks and tile_k.
std::span<const Rule> rules();

// Whether k is at most kMostK.
Expected<void> supports(const Problem& problem);

// The problem's extents, by which ranges go.
GemmArgs extents(const Problem& problem);

// Host code that names `ranges` what launch formulas need: `declaration` declares it from kTile and
// args.
std::string preamble(std::string_view declaration);

}  // namespace gemmtune::codegen::stream_k
