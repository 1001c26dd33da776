#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/common/target.h"

namespace gemmtune::app {

// target_line() as keys: arch, device, provenance, model, note.
nlohmann::ordered_json target_json(const Target& target);

// The GPUs that measure, with their ordinals; empty without one.
nlohmann::ordered_json devices_json(const Target& target);

}  // namespace gemmtune::app
