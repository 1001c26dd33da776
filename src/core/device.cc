#include "core/device.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/json_text.h"
#include "core/names.h"
#include "embedded/device_files.h"

namespace gemmtune {
namespace {

using Json = nlohmann::json;

constexpr int kKib = 1024;
constexpr int64_t kMib = 1024 * 1024;
constexpr int64_t kGb = 1'000'000'000;

// The card that stands for an arch: the one most people with that arch have. For sm_89 that is the
// RTX 4090 and not the L4, whose 72 W keep it far below the boost clock the model reckons with.
constexpr std::pair<std::string_view, std::string_view> kRepresentatives[] = {
    {"sm_75", "t4"},      {"sm_80", "a100-sxm4-80gb"}, {"sm_86", "rtx3090"},
    {"sm_89", "rtx4090"}, {"sm_90", "h200"},           {"sm_90a", "h200"}};

constexpr std::string_view kModelledUuid = "model-";  // and the model's id

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

constexpr std::string_view kFileKeys[] = {"about", "limits", "devices"};
constexpr std::string_view kLimitKeys[] = {"registers_per_sm",
                                           "max_registers_per_thread",
                                           "max_threads_per_sm",
                                           "max_blocks_per_sm",
                                           "smem_kib_per_sm",
                                           "max_smem_kib_per_block",
                                           "reserved_smem_kib_per_block",
                                           "fp32_lanes_per_sm",
                                           "sources"};
constexpr std::string_view kDeviceKeys[] = {"id",
                                            "name",
                                            "arch",
                                            "sm_count",
                                            "l2_mib",
                                            "memory_gb",
                                            "boost_clock_mhz",
                                            "memory_gb_per_s",
                                            "tensor_f16_tflops",
                                            "sources"};

// Carries the first thing found wrong out of the parse; caught in parse_device_specs only.
struct BadFile {
  std::string message;
};

// One JSON object under a name for messages; every accessor throws BadFile naming entry and key.
class Entry {
 public:
  Entry(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("is " + json.dump() + ", an object is needed");
  }

  [[noreturn]] void fail(const std::string& what) const { throw BadFile{where_ + " " + what}; }

  void allow_only(std::span<const std::string_view> keys) const {
    for (const auto& item : json_.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
        fail("has an " + unknown_name_message("key", item.key(), keys));
      }
    }
  }

  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail("lacks the key '" + std::string(key) + "'");
    return *found;
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail_value(key, "a text that is not empty");
    }
    return value.get<std::string>();
  }

  // A whole number in least..INT_MAX/scale, times scale.
  int integer(const char* key, int least, int scale = 1) const {
    const Json& value = at(key);
    const int most = std::numeric_limits<int>::max() / scale;
    if (!value.is_number_integer() || value < least || value > most) {
      fail_value(key, "a whole number in " + std::to_string(least) + ".." + std::to_string(most));
    }
    return value.get<int>() * scale;
  }

  double number(const char* key, bool may_be_zero) const {
    const Json& value = at(key);
    if (!value.is_number() || value < 0 || (value == 0 && !may_be_zero)) {
      fail_value(key, may_be_zero ? "a number of at least 0" : "a number above 0");
    }
    return value.get<double>();
  }

  // Facts without a source are not accepted.
  void require_sources() const {
    const Json& sources = at("sources");
    const bool good = sources.is_array() && !sources.empty() &&
                      std::all_of(sources.begin(), sources.end(), [](const Json& source) {
                        return source.is_string() && !source.get_ref<const std::string&>().empty();
                      });
    if (!good) fail_value("sources", "a list of at least one text");
  }

 private:
  [[noreturn]] void fail_value(const char* key, const std::string& needed) const {
    fail("'" + std::string(key) + "' is " + json_.at(key).dump() + ", " + needed + " is needed");
  }

  const Json& json_;
  std::string where_;
};

DeviceSpec read_limits(const Entry& entry) {
  entry.allow_only(kLimitKeys);
  entry.require_sources();
  DeviceSpec spec;
  spec.registers_per_sm = entry.integer("registers_per_sm", 1);
  spec.max_registers_per_thread = entry.integer("max_registers_per_thread", 1);
  spec.max_threads_per_sm = entry.integer("max_threads_per_sm", 1);
  spec.max_blocks_per_sm = entry.integer("max_blocks_per_sm", 1);
  spec.smem_bytes_per_sm = entry.integer("smem_kib_per_sm", 1, kKib);
  spec.max_smem_bytes_per_block = entry.integer("max_smem_kib_per_block", 1, kKib);
  spec.reserved_smem_bytes_per_block = entry.integer("reserved_smem_kib_per_block", 0, kKib);
  spec.fp32_lanes_per_sm = entry.integer("fp32_lanes_per_sm", 1);
  if (int64_t{spec.max_smem_bytes_per_block} + spec.reserved_smem_bytes_per_block >
      spec.smem_bytes_per_sm) {
    entry.fail("'max_smem_kib_per_block' and the reserved part exceed 'smem_kib_per_sm'");
  }
  return spec;
}

// Reads an arch name that devices may have: architecture-specific ones name code, not devices.
Arch read_arch(const Entry& entry, const std::string& text) {
  const auto arch = parse_arch(text);
  if (!arch) entry.fail("names an " + arch.error().message);
  if (arch->specific) entry.fail("names " + text + ", which is code's arch and not a device's");
  return *arch;
}

using LimitsByArch = std::map<std::string, DeviceSpec, std::less<>>;

LimitsByArch read_all_limits(const Entry& file) {
  const Entry table(file.at("limits"), "limits");
  LimitsByArch limits;
  for (const auto& item : file.at("limits").items()) {
    const Entry entry(item.value(), "limits of '" + item.key() + "'");
    const Arch arch = read_arch(table, item.key());
    DeviceSpec spec = read_limits(entry);
    spec.arch = arch;
    limits.emplace(item.key(), std::move(spec));
  }
  return limits;
}

// "devices[3] ('h200')", so that an entry is found by eye and by place.
std::string device_label(const Json& json, size_t index) {
  std::string label = "devices[" + std::to_string(index) + "]";
  if (json.is_object() && json.contains("id") && json.at("id").is_string()) {
    label += " ('" + json.at("id").get<std::string>() + "')";
  }
  return label;
}

DeviceSpec read_device(const Entry& entry, const LimitsByArch& limits) {
  entry.allow_only(kDeviceKeys);
  entry.require_sources();
  const std::string arch = to_string(read_arch(entry, entry.text("arch")));
  const auto found = limits.find(arch);
  if (found == limits.end()) entry.fail("has 'arch' " + arch + ", which 'limits' does not list");
  DeviceSpec spec = found->second;
  spec.id = entry.text("id");
  spec.name = entry.text("name");
  spec.sm_count = entry.integer("sm_count", 1);
  spec.l2_bytes = entry.integer("l2_mib", 1) * kMib;
  spec.memory_bytes = entry.integer("memory_gb", 1) * kGb;
  spec.boost_clock_mhz = entry.number("boost_clock_mhz", false);
  spec.memory_gb_per_s = entry.number("memory_gb_per_s", false);
  spec.tensor_f16_tflops = entry.number("tensor_f16_tflops", true);
  return spec;
}

std::vector<DeviceSpec> read_file(const Json& json) {
  const Entry file(json, "the file");
  file.allow_only(kFileKeys);
  const LimitsByArch limits = read_all_limits(file);
  const Json& devices = file.at("devices");
  if (!devices.is_array() || devices.empty()) {
    file.fail("needs a list of at least one device as 'devices'");
  }
  std::vector<DeviceSpec> specs;
  std::set<std::string> taken;  // ids and names share one space: find_device_spec takes either
  for (size_t i = 0; i < devices.size(); ++i) {
    const Entry entry(devices[i], device_label(devices[i], i));
    DeviceSpec spec = read_device(entry, limits);
    if (!taken.insert(spec.id).second) entry.fail("has an 'id' that stands before");
    if (!taken.insert(spec.name).second) entry.fail("has a 'name' that stands before");
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace

Expected<std::vector<DeviceSpec>> parse_device_specs(std::string_view json,
                                                     std::string_view file_name) {
  const std::string prefix = std::string(file_name) + ": ";
  try {
    return read_file(parse_json(json));
  } catch (const BadFile& bad) {
    return usage_error(prefix + bad.message);
  } catch (const RepeatedKey& repeated) {
    return usage_error(prefix + repeated.message);
  } catch (const Json::exception& error) {
    return usage_error(prefix + error.what());
  }
}

std::span<const DeviceSpec> known_devices() {
  static const std::vector<DeviceSpec> known = [] {
    const embedded::File& file = embedded::device_files().front();
    auto specs = parse_device_specs(file.text, file.path);
    if (!specs) throw std::logic_error(specs.error().message);
    return *std::move(specs);
  }();
  return known;
}

const DeviceSpec* find_device_spec(std::string_view name) {
  for (const DeviceSpec& spec : known_devices()) {
    if (spec.name == name || spec.id == name) return &spec;
  }
  return nullptr;
}

bool is_part_of_name(std::string_view text, std::string_view name) {
  return lower(name).find(lower(text)) != std::string::npos;
}

Expected<const DeviceSpec*> choose_device_spec(std::string_view text, std::optional<Arch> arch) {
  std::vector<const DeviceSpec*> found;
  std::vector<std::string_view> fitting;
  std::vector<std::string_view> known;
  for (const DeviceSpec& spec : known_devices()) {
    if (arch && spec.arch.number() != arch->number()) continue;
    if (lower(spec.id) == lower(text) || lower(spec.name) == lower(text)) return &spec;
    known.emplace_back(spec.name);
    if (text.empty() || !is_part_of_name(text, spec.name)) continue;
    found.push_back(&spec);
    fitting.emplace_back(spec.name);
  }
  if (found.size() == 1) return found.front();
  const std::string what = in_quotes(text) + (arch ? " for " + to_string(*arch) : "");
  if (found.empty())
    return usage_error("unknown GPU model " + what + "; there are: " + join(known));
  return usage_error("several GPU models fit " + what + ": " + join(fitting));
}

std::string with_article(std::string_view device_name) {
  for (const std::string_view maker : {"NVIDIA ", "GeForce ", "Tesla "}) {
    if (device_name.starts_with(maker)) device_name.remove_prefix(maker.size());
  }
  // Letters whose names begin with a vowel: models are spelled, not read.
  constexpr std::string_view kVowels = "AEFHILMNORSX";
  const bool vowel = !device_name.empty() && kVowels.find(device_name[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(device_name);
}

Device modelled_device(const DeviceSpec& spec) {
  Device device;
  device.name = spec.name;
  device.uuid = std::string(kModelledUuid) + spec.id;
  device.arch = spec.arch;
  device.sm_count = spec.sm_count;
  device.memory_bytes = spec.memory_bytes;
  device.l2_bytes = spec.l2_bytes;
  device.max_smem_bytes_per_block = spec.max_smem_bytes_per_block;
  return device;
}

bool is_modelled(std::string_view uuid) {
  return uuid.starts_with(kModelledUuid);
}

const DeviceSpec& representative_device(Arch arch) {
  for (const auto& [arch_name, id] : kRepresentatives) {
    if (arch_name != to_string(arch)) continue;
    if (const DeviceSpec* spec = find_device_spec(id)) return *spec;
  }
  throw std::logic_error("no device stands for " + to_string(arch));
}

DeviceSpec device_limits(const Device& device, Arch capability) {
  const DeviceSpec* known = find_device_spec(device.name);
  DeviceSpec spec = known != nullptr ? *known : representative_device(capability);
  spec.name = device.name;
  spec.arch = capability_of(capability);
  spec.sm_count = device.sm_count;
  spec.memory_bytes = device.memory_bytes;
  spec.l2_bytes = device.l2_bytes;
  if (device.max_smem_bytes_per_block > 0)
    spec.max_smem_bytes_per_block = device.max_smem_bytes_per_block;
  return spec;
}

}  // namespace gemmtune
