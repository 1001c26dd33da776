#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/record_store.h"

namespace gemmtune::app {

// Which records a reading command looks at, as typed; an empty text restricts nothing.
struct FilterOptions {
  std::string arch;
  std::string device;  // a uuid or the beginning of one, or part of a name
  std::string strategy;
  std::string type;
  std::string provenance;
  bool warm = false;  // measured with operands in cache, instead of in memory

  bool operator==(const FilterOptions&) const = default;
};

// What --strategy calls cuBLASLt's algorithms.
inline constexpr std::string_view kVendorStrategy = "cublaslt";

// What can be told without the store. Errors are of kind usage.
Expected<store::Filter> parse_filter(const FilterOptions& options);

// Devices of the store, by uuid.
using DeviceNames = std::map<std::string, store::StoredDevice>;
Expected<DeviceNames> device_names(store::RecordStore& store);

// Turns FilterOptions::device into filter.device_uuid. A modelled device is meant where no real one
// matches. Usage error if no device of the store or several match.
Expected<void> resolve_device(const std::string& text, const DeviceNames& devices,
                              store::Filter& filter);

// Both: the devices of the store, of which `text` is found in `filter`.
Expected<DeviceNames> resolve_device_of(store::RecordStore& store, const std::string& text,
                                        store::Filter& filter);

// "NVIDIA H200", the uuid of a device that is not there, or "-" for none.
std::string device_name(const DeviceNames& devices, const std::string& uuid);

}  // namespace gemmtune::app
