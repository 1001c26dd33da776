#include "app/common/filter.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "codegen/strategy.h"

namespace gemmtune::cli {
namespace {}  // namespace

void add_filter_options(CLI::App& command, FilterOptions& options, bool with_type) {
  const char* const group = "Filter";
  command.add_option("--arch", options.arch, "Only results for this arch")
      ->type_name("ARCH")
      ->group(group);
  command
      .add_option("--device", options.device, "Only results of this GPU: uuid or part of the name")
      ->type_name("GPU")
      ->group(group);
  command.add_option("--strategy", options.strategy, "Only this strategy")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--provenance", options.provenance, "measured, transferred or predicted")
      ->type_name("P")
      ->group(group);
  command.add_flag("--warm", options.warm, "Results for operands in cache")->group(group);
  if (with_type) {
    command.add_option("--type,--dtype", options.type, "Only this element type")
        ->type_name("TYPE")
        ->group(group);
  }
}

void add_where_option(CLI::App& command, std::vector<std::string>& conditions) {
  command
      .add_option("--where", conditions,
                  "Only where it holds: 'COLUMN OP VALUE', OP one of = != < <= > >= ~ (contains); "
                  "repeated: all hold")
      ->type_name("CONDITION")
      ->group("Filter")
      ->allow_extra_args(false);
}

Expected<store::Filter> parse_filter(const FilterOptions& options) {
  store::Filter filter;
  filter.warm = options.warm;
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    filter.arch = *arch;
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

std::string device_name(const DeviceNames& devices, const std::string& uuid) {
  if (uuid.empty()) return "-";
  const auto found = devices.find(uuid);
  return found == devices.end() ? uuid : found->second.device.name;
}

}  // namespace gemmtune::cli
