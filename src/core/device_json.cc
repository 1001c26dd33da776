#include "core/device_json.h"

#include <nlohmann/json.hpp>

namespace gemmtune {

nlohmann::ordered_json device_json(const Device& device) {
  nlohmann::ordered_json json;
  json["uuid"] = device.uuid;
  json["name"] = device.name;
  json["arch"] = to_string(device.arch);
  json["sm_count"] = device.sm_count;
  json["memory_bytes"] = device.memory_bytes;
  json["l2_bytes"] = device.l2_bytes;
  json["driver_version"] = device.driver_version;
  return json;
}

}  // namespace gemmtune
