#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/device.h"

namespace gemmtune {

// What is told of a GPU that results are keyed by: uuid, name, arch, sm_count, memory_bytes,
// l2_bytes, driver_version.
nlohmann::ordered_json device_json(const Device& device);

}  // namespace gemmtune
