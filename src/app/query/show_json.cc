#include "app/query/show.h"

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"

namespace gemmtune::app {
namespace {

nlohmann::ordered_json run_json(const store::StoredRun& run) {
  return {{"started_at", run.started_at},
          {"tool_version", run.info.tool_version},
          {"compiler_version", run.info.compiler_version},
          {"driver_version", run.info.driver_version},
          {"options", run.info.options}};
}

}  // namespace

std::string show_json(const ShownRecord& shown) {
  nlohmann::ordered_json json = to_json(shown.record);
  const auto device = shown.devices.find(shown.record.job.device_uuid);
  json["device"] = nullptr;
  if (device != shown.devices.end()) json["device"] = to_json(device->second.device);
  json["created_at"] = shown.created_at;
  json["run"] = run_json(shown.run);
  json["history"] = nlohmann::ordered_json::array();
  for (const store::Timing& timing : shown.history) {
    json["history"].push_back(to_json(timing.measurement));
    json["history"].back()["samples_us"] = timing.measurement.samples_us;
    json["history"].back()["run"] = run_json(timing.run);
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::app
