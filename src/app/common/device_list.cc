#include "app/common/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/device_model.h"
#include "core/names.h"

namespace gemmtune::app {
namespace {

// Of "0,2"; nothing if it is no such list.
std::optional<std::vector<int>> parse_ordinals(std::string_view text) {
  std::vector<int> ordinals;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int ordinal = 0;
    const auto [stop, code] = std::from_chars(at, end, ordinal);
    if (code != std::errc() || ordinal < 0) return std::nullopt;
    ordinals.push_back(ordinal);
    if (stop == end) return ordinals;
    if (*stop != ',') return std::nullopt;
    at = stop + 1;
  }
}

// "0,2 (NVIDIA H200) or 1 (NVIDIA A100)": the devices of each model.
std::string models_text(const std::vector<Device>& devices) {
  std::vector<std::pair<const Device*, std::string>> models;
  for (const Device& device : devices) {
    const auto known = std::find_if(models.begin(), models.end(), [&](const auto& model) {
      return same_model(*model.first, device);
    });
    if (known == models.end()) {
      models.emplace_back(&device, std::to_string(device.ordinal));
    } else {
      known->second += fmt::format(",{}", device.ordinal);
    }
  }
  std::string text;
  for (const auto& [device, ordinals] : models)
    text += fmt::format("{}{} ({})", text.empty() ? "" : " or ", ordinals, device->name);
  return text;
}

Expected<std::vector<Device>> devices_of(std::string_view text, const Machine& machine) {
  if (text == kAllDevices) return machine.devices;
  const auto ordinals = parse_ordinals(text);
  if (!ordinals) {
    return usage_error(fmt::format("--devices: {} is no list of GPUs; write 0,1 or all",
                                   in_quotes(std::string(text))));
  }
  std::vector<Device> devices;
  for (const int ordinal : *ordinals) {
    const auto found =
        std::find_if(machine.devices.begin(), machine.devices.end(),
                     [&](const Device& device) { return device.ordinal == ordinal; });
    if (found == machine.devices.end()) {
      return usage_error(fmt::format("--devices {}: this machine has devices 0..{}", text,
                                     machine.devices.size() - 1));
    }
    devices.push_back(*found);
  }
  return devices;
}

}  // namespace

Expected<std::vector<Device>> choose_devices(std::string_view text, const Machine& machine) {
  if (machine.devices.empty()) {
    return usage_error(fmt::format("--devices {}: no GPU here: {}", text, machine.why_no_driver));
  }
  auto devices = devices_of(text, machine);
  if (!devices) return devices;
  const bool one_model = std::all_of(devices->begin(), devices->end(), [&](const Device& device) {
    return same_model(device, devices->front());
  });
  if (one_model) return devices;
  return usage_error(
      fmt::format("--devices {}: these GPUs are of several models, and results are of one; give "
                  "those of one model: --devices {}",
                  text, models_text(*devices)));
}

std::vector<Device> distinct(const std::vector<Device>& devices) {
  std::set<std::string> uuids;
  std::vector<Device> once;
  for (const Device& device : devices) {
    if (uuids.insert(device.uuid).second) once.push_back(device);
  }
  return once;
}

size_t count_distinct(const std::vector<Device>& devices) {
  return distinct(devices).size();
}

}  // namespace gemmtune::app
