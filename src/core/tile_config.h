#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parts/shared/gemm_args.h"
#include "parts/shared/tile_config.h"

namespace gemmtune {

// One parameter of TileConfig by name.
struct TileField {
  std::string_view name;  // "tile_m"
  int TileConfig::*member;
};

// Every field of TileConfig, in declaration order.
std::span<const TileField> tile_fields();

// The field called `name`, else null.
const TileField* find_tile_field(std::string_view name);

// Whether a field is told to a kernel by its launch alone (in GemmArgs, or as the grid): kernels
// that differ in nothing else are the same machine code.
bool is_launch_fact(int TileConfig::*member);
TileConfig without_launch_facts(TileConfig tile);

// "tile_m=128 tile_n=128 ..." with the non-zero fields only; what the store keeps and parse_tile
// reads, in any order of the fields. A text with an unknown or repeated field, a value that is no
// int, or anything else in it parses to nothing.
std::string to_string(const TileConfig& tile);
std::optional<TileConfig> parse_tile(std::string_view text);

}  // namespace gemmtune
