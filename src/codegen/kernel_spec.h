#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arch.h"
#include "core/error.h"
#include "core/problem.h"
#include "core/tile_config.h"

#include "parts/shared/device_scalars.h"
#include "parts/shared/kernel_traits.h"

namespace gemmtune::codegen {

class Strategy;

// One kernel: a strategy, its tile, and what it is specialised on. Generic in m, n and k.
struct KernelSpec {
  const Strategy* strategy = nullptr;  // from the registry; lives as long as the process
  TileConfig tile;
  KernelTraits traits;
  DataType type = DataType::f32;         // of A and B
  DataType accumulator = DataType::f32;  // of the sums
  MathMode math = MathMode::ieee;        // how products are formed
  std::optional<DataType> result{};      // of C and the bias; none: usual_result() of A and B
  bool device_scalars = false;  // alpha and beta in device memory: it takes DeviceScalarArgs
  Arch arch{};                  // that its code is for
};

// The type of C and of the bias.
DataType result_type(const KernelSpec& spec);

// "tile_m=128 tile_n=128 ..." as a tile of `strategy`. Usage error for what is no tile, and for a
// parameter that the strategy does not have: names it, and lists those that there are.
Expected<TileConfig> read_tile(const Strategy& strategy, std::string_view text);

// The kernel of a strategy and tile, specialised for `problem` (canonical), with the code that the
// strategy generates for devices of a compute capability.
KernelSpec spec_for(const Strategy& strategy, const TileConfig& tile, const Problem& problem,
                    Arch capability);

// The same of a strategy and tile as they are stored. Error of kind unsupported, saying why, if
// this program knows no such strategy or tile.
Expected<KernelSpec> parse_spec(std::string_view strategy, std::string_view config,
                                const Problem& problem, Arch capability);

// Storage orders and the widest vectors that every operand of `problem` (canonical) allows: see
// KernelTraits for what a width promises.
KernelTraits traits_for(const Problem& problem);

// Whether kernels of `problem` read B once, or nearly so: for up to 512 rows, and mostly weights.
// With more rows, other tiles read it again. (An A of many rows beside few columns is often read
// again by the program's next kernel.)
bool reads_b_once(const Problem& problem);

// Readable, unique but for launch facts (is_launch_fact()), and a C identifier:
// "double_buffer_f32_ttt_v444_128x128x8_64x32_8x8_...". Sums in another type than f32 are named
// after the operands' type, and so are math modes, results of another type and epilogues:
// "mma_multistage_f16_f16_tnt_v888_...", "mma_multistage_f32_3xtf32_ttt_v444_...",
// "mma_multistage_bf16_to_f32_bias_gelu_tnt_v884_...".
std::string kernel_name(const KernelSpec& spec);

// What a kernel is known by where its launches matter, too: unique among specs. Code for the arch,
// its name, and its tile: "sm_90a wgmma_tma_bf16_tnt_v888_... tile_m=128 ...".
std::string candidate_name(const KernelSpec& spec);

// The extern "C" names of Strategy::entry_points(spec), in that order.
std::vector<std::string> entry_names(const KernelSpec& spec);

}  // namespace gemmtune::codegen
