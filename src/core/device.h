#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arch.h"
#include "core/error.h"

namespace gemmtune {

// What is known about a GPU model without having one: limits that decide legality and occupancy,
// and rates that the performance model uses. From configs/devices.json, which names its sources.
struct DeviceSpec {
  std::string id;    // "h200"
  std::string name;  // "NVIDIA H200", as the driver reports it
  Arch arch;
  int sm_count = 0;
  int registers_per_sm = 0;
  int max_registers_per_thread = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int smem_bytes_per_sm = 0;
  int max_smem_bytes_per_block = 0;       // after opting in
  int reserved_smem_bytes_per_block = 0;  // taken by the system from each block's share
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  double boost_clock_mhz = 0;
  double memory_gb_per_s = 0;    // decimal; measured reads where known, else the data sheet's peak
  int fp32_lanes_per_sm = 0;     // FFMA per clock and SM
  double tensor_f16_tflops = 0;  // dense, f32 accumulate; 0 where there are no tensor cores
};

// A GPU that is present: what results are keyed by.
struct Device {
  int ordinal = 0;
  std::string name;
  std::string uuid;  // "GPU-xxxxxxxx-xxxx-..."
  Arch arch;
  int sm_count = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int max_smem_bytes_per_block = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int driver_version = 0;    // as cuDriverGetVersion gives it, e.g. 13000
  bool one_process = false;  // may use it at a time, or none (compute mode)
};

// The devices of configs/devices.json, compiled in. Parsed on the first call; safe from any thread.
std::span<const DeviceSpec> known_devices();

// Parses the text of a devices.json (configs/schemas/devices.schema.json). Errors are of kind usage
// and name file_name, the entry and the key.
Expected<std::vector<DeviceSpec>> parse_device_specs(std::string_view json,
                                                     std::string_view file_name);

// The spec whose name (or id) is `name`, else null.
const DeviceSpec* find_device_spec(std::string_view name);

// Whether `text`, in any case, is part of a GPU's name. Users name GPUs so.
bool is_part_of_name(std::string_view text, std::string_view name);

// The known GPU model that a user means by `text`, in any case: an id, a name, or part of the name
// of one only. With `arch` only models that have it count. Usage error, listing the models, else.
Expected<const DeviceSpec*> choose_device_spec(std::string_view text, std::optional<Arch> arch);

// "an RTX 4090" for "NVIDIA GeForce RTX 4090".
std::string with_article(std::string_view device_name);

// What results that were predicted for a model are keyed by: a GPU that nobody has, called
// "model-ID".
Device modelled_device(const DeviceSpec& spec);
bool is_modelled(std::string_view uuid);

// The spec that stands for an arch when no device is present: the card most people with that arch
// have. Every known arch has one (sm_90a that of sm_90); throws std::logic_error for any other.
const DeviceSpec& representative_device(Arch arch);

// The limits that code for a compute capability has to keep on a device: the data file's entry of
// its name, or the arch's representative, with what the driver reported (a store does not keep
// shared memory: 0).
DeviceSpec device_limits(const Device& device, Arch capability);

}  // namespace gemmtune
