#pragma once

#include <nlohmann/json.hpp>

#include "store/exchange.h"

// Stored values as JSON, in the order of an entry's line.
namespace gemmtune::store {

// Everything but created_at, device and timings.
nlohmann::ordered_json values_json(const Entry& entry);
nlohmann::ordered_json device_json(const StoredDevice& stored);
nlohmann::ordered_json run_json(const StoredRun& run);
// throttle_reasons is a mask.
nlohmann::ordered_json measurement_json(const Measurement& measurement);
// measurement_json() and the run.
nlohmann::ordered_json timing_json(const Timing& timing);

}  // namespace gemmtune::store
