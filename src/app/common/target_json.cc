#include "app/common/target_json.h"

#include <nlohmann/json.hpp>

#include "app/common/device_list.h"
#include "core/device_json.h"

namespace gemmtune::app {

using nlohmann::ordered_json;

ordered_json target_json(const Target& target) {
  ordered_json json;
  json["arch"] = to_string(target.arch);
  json["device"] = target.device ? device_json(*target.device) : ordered_json(nullptr);
  json["provenance"] = target.device ? "measured" : "predicted";
  json["model"] = target.device ? ordered_json(nullptr) : ordered_json(target.limits.name);
  std::string note = target_line(target);
  note.pop_back();
  json["note"] = note;
  return json;
}

ordered_json devices_json(const Target& target) {
  std::vector<Device> devices = target.devices;
  if (devices.empty() && target.device) devices.push_back(*target.device);
  ordered_json json = ordered_json::array();
  for (const Device& device : distinct(devices)) {
    ordered_json entry;
    entry["ordinal"] = device.ordinal;
    entry.update(device_json(device));
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace gemmtune::app
