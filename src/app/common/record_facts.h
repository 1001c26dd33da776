#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/problem.h"
#include "core/tile_config.h"
#include "store/record.h"

// What follows from a record.
namespace gemmtune::app {

using store::time_us;
std::optional<double> time_us(const std::optional<store::Record>& record);  // none: no time

// How many times as fast as a vendor's algorithm a kernel is. Low and high are what the 95%
// intervals of both medians leave open.
struct Margin {
  double ratio = 1;
  double low = 1;
  double high = 1;
};
// Nothing where one of them was not measured.
std::optional<Margin> margin(const store::Record& own, const std::optional<store::Record>& vendor);

// FLOP/s of a time, in TFLOP/s.
double tflops(const Problem& problem, double microseconds);

// The strategy and tile for reading, "double_buffer 128x128x8/64x32/8x8 order=1": sizes of the
// block's, the warp's and the thread's tile, then what else is not 0.
std::string config_text(std::string_view strategy, const TileConfig& tile);

// Whether two runs of the kernel on the same operands give the same bits; nothing for a vendor's
// algorithm, or for a kernel that this program does not know.
std::optional<bool> deterministic(const store::Record& record);

// What throttled a measurement; empty for nothing.
std::string throttle_text(uint64_t reasons);

}  // namespace gemmtune::app
