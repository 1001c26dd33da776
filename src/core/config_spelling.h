#pragma once

#include <string>
#include <string_view>

#include "core/arch.h"

namespace gemmtune {

// The config of a result as this program spells it, from how gemm-tune spelled it in databases up
// to version 7, lines up to version 2 and packs up to format 3: there `stages` chose the way of
// copying in split_k, gemv and skinny, the arch chose it in the mma strategies, a tile_k of 0 had
// skinny's warps copy, and `unroll` was what `promotion` is now. Different texts stay different.
// What has no new spelling stays as it is: its strategy knows no such parameter any more, so it is
// stale.
std::string current_config(std::string_view strategy, std::string_view old_config, Arch arch);

}  // namespace gemmtune
