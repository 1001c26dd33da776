#include "app/query/list.h"

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "core/arch.h"
#include "core/device_json.h"
#include "core/json_text.h"
#include "jit/nvrtc.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

}  // namespace

std::string problems_json(const ProblemList& list) {
  ordered_json json;
  json["problems"] = ordered_json::array();
  for (const store::Record& record : list.records) json["problems"].push_back(to_json(record));
  return to_text(json, 2);
}

std::string devices_json(const DeviceList& list) {
  ordered_json json;
  json["present"] = ordered_json::array();
  for (const Device& device : list.present) {
    json["present"].push_back(device_json(device));
    json["present"].back()["ordinal"] = device.ordinal;
  }
  json["stored"] = ordered_json::array();
  for (const auto& [uuid, stored] : list.stored) {
    json["stored"].push_back(device_json(stored.device));
    json["stored"].back()["first_seen"] = stored.first_seen;
  }
  json["known"] = ordered_json::array();
  for (const DeviceSpec& spec : known_devices()) {
    json["known"].push_back({{"id", spec.id},
                             {"name", spec.name},
                             {"arch", to_string(spec.arch)},
                             {"sm_count", spec.sm_count},
                             {"boost_clock_mhz", spec.boost_clock_mhz},
                             {"memory_bytes", spec.memory_bytes},
                             {"memory_gb_per_s", spec.memory_gb_per_s},
                             {"representative", representative_device(spec.arch).id == spec.id}});
  }
  return to_text(json, 2);
}

std::string strategies_json() {
  ordered_json json;
  json["strategies"] = ordered_json::array();
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    ordered_json entry;
    entry["name"] = strategy->name();
    entry["summary"] = strategy->summary();
    entry["parameters"] = strategy->parameters();
    const auto space = codegen::default_search_space(*strategy);
    entry["space_points"] = space ? ordered_json(space->size()) : ordered_json(nullptr);
    entry["rules"] = ordered_json::array();
    for (const codegen::Rule& rule : strategy->rules())
      entry["rules"].push_back({{"name", rule.name}, {"reason", rule.reason}});
    json["strategies"].push_back(std::move(entry));
  }
  return to_text(json, 2);
}

std::string archs_json() {
  ordered_json json;
  json["archs"] = ordered_json::array();
  for (const Arch arch : known_archs()) {
    json["archs"].push_back({{"name", to_string(arch)},
                             {"compiled_by", jit::nvrtc_versions_for(arch)},
                             {"representative", representative_device(arch).name}});
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
