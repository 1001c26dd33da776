#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/filter.h"

namespace gemmtune::app {

// Everything that is known about one candidate.
struct ShownRecord {
  store::Record record;
  std::string created_at;
  store::StoredRun run;                // that wrote it last
  std::vector<store::Timing> history;  // oldest first
  DeviceNames devices;
};

// ErrorKind::not_found if no candidate has this id.
Expected<ShownRecord> show(const Context& context, int64_t id);

std::string show_json(const ShownRecord& shown);

}  // namespace gemmtune::app
