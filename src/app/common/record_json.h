#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/common/filter.h"
#include "core/device.h"
#include "core/tile_config.h"
#include "store/record.h"

// How records look, as JSON and in the cells of tables. docs/cli.md documents the JSON keys.
namespace gemmtune::cli {

// null for nothing.
template <class T, class Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

nlohmann::ordered_json to_json(const Problem& problem);
nlohmann::ordered_json to_json(const Device& device);
nlohmann::ordered_json to_json(const store::Measurement& measurement);
nlohmann::ordered_json to_json(const store::Record& record);
nlohmann::ordered_json to_json(const std::optional<store::Record>& record);

// The measured median, else the prediction, else nothing.
std::optional<double> time_us(const store::Record& record);

// FLOP/s of a time, in TFLOP/s.
double tflops(const Problem& problem, double microseconds);

// Cells; "-" for what is not known.
std::string time_cell(const std::optional<double>& microseconds);
std::string tflops_cell(const store::Record& record);
// The strategy and tile for reading, "double_buffer 128x128x8/64x32/8x8 order=1": sizes of the
// block's, the warp's and the thread's tile, then what else is not 0; "non-deterministic" where
// runs may round differently.
std::string config_cell(const store::Record& record);
std::string config_text(std::string_view strategy, const TileConfig& tile);

// Whether two runs of the kernel on the same operands give the same bits; nothing for a vendor's
// algorithm, or for a kernel that this program does not know.
std::optional<bool> deterministic(const store::Record& record);

// "measured on NVIDIA H200", "predicted for sm_89 as an RTX 4090; nothing was measured".
std::string provenance_text(const store::Record& record, const DeviceNames& devices);

// What throttled a measurement; empty for nothing.
std::string throttle_text(uint64_t reasons);

}  // namespace gemmtune::cli
