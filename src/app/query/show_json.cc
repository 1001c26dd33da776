#include "app/query/show.h"

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "core/device_json.h"
#include "core/json_text.h"
#include "store/entry_json.h"

namespace gemmtune::app {

std::string show_json(const ShownRecord& shown) {
  nlohmann::ordered_json json = to_json(shown.record);
  const auto device = shown.devices.find(shown.record.job.device_uuid);
  json["device"] = nullptr;
  if (device != shown.devices.end()) json["device"] = device_json(device->second.device);
  json["created_at"] = shown.created_at;
  json["run"] = store::run_json(shown.run);
  json["history"] = nlohmann::ordered_json::array();
  for (const store::Timing& timing : shown.history) {
    json["history"].push_back(to_json(timing.measurement));
    json["history"].back()["samples_us"] = timing.measurement.samples_us;
    json["history"].back()["run"] = store::run_json(timing.run);
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
