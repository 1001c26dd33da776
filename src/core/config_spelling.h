#pragma once

#include <string>
#include <string_view>

#include "core/arch.h"

namespace gemmtune {

// The config of a result as this program spells it, from how gemm-tune spelled it in databases up
// to version 7, lines up to version 2 and packs up to format 3: there `stages` chose the way of
// copying in split_k, gemv and skinny, the arch chose it in the mma strategies, a tile_k of 0 had
// skinny's warps copy, `unroll` was what `promotion` is now, and mma_stream_k's `slices` what
// `sharing_blocks` is. Different texts stay different. What has no new spelling stays as it is: its
// strategy knows no such parameter any more, so it is stale.
std::string current_config(std::string_view strategy, std::string_view old_config, Arch arch);

// The same from databases of versions 8 and 9, lines of version 3 and packs of format 4: there
// mma_stream_k's `sharing_blocks` was `slices`. A config in the current spelling stays as it is.
std::string current_config(std::string_view strategy, std::string_view old_config);

}  // namespace gemmtune
