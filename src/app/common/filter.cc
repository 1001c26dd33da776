#include "app/common/filter.h"

#include <algorithm>
#include <vector>

#include "codegen/strategy.h"

namespace gemmtune::app {
Expected<store::Filter> parse_filter(const FilterOptions& options) {
  store::Filter filter;
  filter.warm = options.warm;
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    filter.arch = capability_of(*arch);
  }
  if (!options.type.empty()) {
    auto type = parse_data_type(options.type);
    if (!type) return tl::unexpected(type.error());
    filter.type = *type;
  }
  if (!options.provenance.empty()) {
    auto provenance = store::parse_provenance(options.provenance);
    if (!provenance) return tl::unexpected(provenance.error());
    filter.provenance = *provenance;
  }
  if (!options.strategy.empty()) {
    if (options.strategy == kVendorStrategy) {
      filter.include_vendor = true;
    } else if (auto strategy = codegen::find_strategy(options.strategy); !strategy) {
      return tl::unexpected(strategy.error());
    }
    filter.strategy = options.strategy;
  }
  return filter;
}

Expected<DeviceNames> device_names(store::RecordStore& store) {
  auto devices = store.devices();
  if (!devices) return tl::unexpected(devices.error());
  DeviceNames names;
  for (store::StoredDevice& device : *devices) names.emplace(device.device.uuid, std::move(device));
  return names;
}

Expected<void> resolve_device(const std::string& text, const DeviceNames& devices,
                              store::Filter& filter) {
  if (text.empty()) return {};
  std::vector<const store::StoredDevice*> found;
  std::string known;
  for (const auto& [uuid, device] : devices) {
    known += (known.empty() ? "" : "; ") + device.device.name + " " + uuid;
    if (is_part_of_name(text, device.device.name) || uuid.starts_with(text))
      found.push_back(&device);
  }
  // Results that were measured go before those that were predicted for such a GPU.
  const auto modelled = std::stable_partition(
      found.begin(), found.end(), [](const auto* d) { return !is_modelled(d->device.uuid); });
  if (modelled != found.begin()) found.erase(modelled, found.end());
  if (found.empty()) {
    return usage_error("--device " + text + ": the database has no results of such a GPU; it has " +
                       (known.empty() ? "none at all" : known));
  }
  if (found.size() > 1) {
    return usage_error("--device " + text + " fits " + found[0]->device.uuid + " and " +
                       found[1]->device.uuid + "; give more of the uuid");
  }
  filter.device_uuid = found.front()->device.uuid;
  return {};
}

Expected<DeviceNames> resolve_device_of(store::RecordStore& store, const std::string& text,
                                        store::Filter& filter) {
  auto devices = device_names(store);
  if (!devices) return devices;
  if (auto found = resolve_device(text, *devices, filter); !found)
    return tl::unexpected(found.error());
  return devices;
}

std::string device_name(const DeviceNames& devices, const std::string& uuid) {
  if (uuid.empty()) return "-";
  const auto found = devices.find(uuid);
  return found == devices.end() ? uuid : found->second.device.name;
}

}  // namespace gemmtune::app
