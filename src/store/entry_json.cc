#include "store/entry_json.h"

#include <cmath>
#include <limits>
#include <set>

#include "core/config_spelling.h"
#include "core/device_json.h"
#include "core/json_text.h"
#include "core/names.h"
#include "store/record_rules.h"
#include "store/rows.h"
#include "store/timestamp.h"

namespace gemmtune::store {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 5;            // of the line
constexpr int kVersionOfUsual256 = 2;  // what a problem means that names no alignment
// What a kernel's parameters are called.
constexpr int kVersionOfSpelling = 3;
constexpr int kVersionOfSharingBlocks = 4;
constexpr int kVersionOfEarlyStarts = 5;
// Of the strategies whose kernels started early in a series before that version.
constexpr std::string_view kStartedEarly = "wgmma";
constexpr const char* kVersionKey = "gemm_tune";

// Why a line is refused; caught where lines are parsed.
struct BadLine {
  std::string why;
};

// Texts may be longer than any that a store has written, but not so long that one fills the screen
// of who reads it.
constexpr size_t kLongestText = 1024;
constexpr size_t kLongestReason = 65536;  // a compiler's words

// A JSON object whose keys are taken one by one; at the end none may be left.
class Reader {
 public:
  Reader(const json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object.is_object()) throw BadLine{name_ + " is no object"};
  }

  const json& take(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) throw BadLine{where(key) + " is missing"};
    taken_.insert(key);
    return *found;
  }
  // Without control characters.
  std::string text(const char* key, size_t longest = kLongestText) {
    std::string value = any_text(key, longest);
    if (has_control_characters(value))
      throw BadLine{where(key) + " has control characters: " + in_quotes(value)};
    return value;
  }
  // What another program said, on several lines perhaps.
  std::string words(const char* key) {
    std::string value = any_text(key, kLongestReason);
    std::string visible = value;
    std::erase_if(visible, [](char c) { return c == '\n' || c == '\t' || c == '\r'; });
    if (has_control_characters(visible))
      throw BadLine{where(key) +
                    " has control characters: " + in_quotes(value.substr(0, kLongestText))};
    return value;
  }
  std::string timestamp(const char* key) {
    std::string value = text(key);
    const auto time = parse_timestamp(value);
    if (!time || *time != value) {
      throw BadLine{where(key) + " is " + in_quotes(value) +
                    ", a time as 2025-01-31T00:00:00.000Z is needed"};
    }
    return value;
  }
  bool flag(const char* key) {
    const json& value = take(key);
    if (!value.is_boolean()) throw BadLine{where(key) + " is neither true nor false"};
    return value.get<bool>();
  }
  bool flag_or(const char* key, bool otherwise) {
    return object_.contains(key) ? flag(key) : otherwise;
  }
  int64_t integer(const char* key, int64_t most = std::numeric_limits<int>::max()) {
    const json& value = take(key);
    if (!value.is_number_integer()) throw BadLine{where(key) + " is no whole number"};
    const bool too_large = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(most);
    if (too_large || value.get<int64_t>() < 0) throw BadLine{where(key) + " is out of range"};
    return value.get<int64_t>();
  }
  int number(const char* key) { return static_cast<int>(integer(key)); }
  uint64_t mask(const char* key) {
    const json& value = take(key);
    if (!value.is_number_unsigned()) throw BadLine{where(key) + " is no mask"};
    return value.get<uint64_t>();
  }
  double real(const char* key) { return finite(take(key), where(key)); }
  std::optional<double> optional_real(const char* key) {
    const json& value = take(key);
    return value.is_null() ? std::nullopt : std::optional(finite(value, where(key)));
  }
  std::vector<double> reals(const char* key) {
    const json& value = take(key);
    if (!value.is_array()) throw BadLine{where(key) + " is no list"};
    std::vector<double> numbers;
    for (const json& item : value) numbers.push_back(finite(item, where(key)));
    return numbers;
  }
  template <class T>
  T name(const char* key, Expected<T> (*parse)(std::string_view)) {
    auto value = parse(text(key));
    if (!value) throw BadLine{where(key) + ": " + value.error().message};
    return *value;
  }
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (!taken_.contains(key)) throw BadLine{where(key) + " is no key of such a line"};
    }
  }
  std::string where(const std::string& key) const {
    return name_.empty() ? key : name_ + "." + key;
  }

 private:
  std::string any_text(const char* key, size_t longest) {
    const json& value = take(key);
    if (!value.is_string()) throw BadLine{where(key) + " is no text"};
    auto text = value.get<std::string>();
    if (text.size() > longest)
      throw BadLine{where(key) + " is longer than " + std::to_string(longest) + " bytes"};
    return text;
  }
  static double finite(const json& value, const std::string& where) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      throw BadLine{where + " is no number"};
    return value.get<double>();
  }

  const json& object_;
  std::string name_;
  std::set<std::string, std::less<>> taken_;
};

StoredRun parse_run(const json& object, const std::string& name) {
  Reader reader(object, name);
  StoredRun run;
  run.started_at = reader.timestamp("started_at");
  run.info.tool_version = reader.text("tool_version");
  run.info.compiler_version = reader.text("compiler_version");
  run.info.driver_version = reader.number("driver_version");
  run.info.options = reader.text("options", kLongestReason);
  reader.finish();
  return run;
}

StoredDevice parse_device(const json& object) {
  Reader reader(object, "device");
  StoredDevice stored;
  stored.device.uuid = reader.text("uuid");
  stored.device.name = reader.text("name");
  stored.device.arch = reader.name("arch", parse_any_arch);
  stored.device.sm_count = reader.number("sm_count");
  stored.device.memory_bytes = reader.integer("memory_bytes", std::numeric_limits<int64_t>::max());
  stored.device.l2_bytes = reader.integer("l2_bytes", std::numeric_limits<int64_t>::max());
  stored.device.driver_version = reader.number("driver_version");
  stored.first_seen = reader.timestamp("first_seen");
  reader.finish();
  if (auto checked = check_device(stored.device); !checked) throw BadLine{checked.error().message};
  return stored;
}

// `starts_early`: what holds where the line is too old to say it.
Timing read_timing(const json& object, size_t index, std::optional<bool> starts_early) {
  const std::string name = "timings[" + std::to_string(index) + "]";
  Reader reader(object, name);
  Timing timing;
  Measurement& m = timing.measurement;
  m.measured_at = reader.timestamp("measured_at");
  m.median_us = reader.real("median_us");
  m.ci_low_us = reader.real("ci_low_us");
  m.ci_high_us = reader.real("ci_high_us");
  m.min_us = reader.real("min_us");
  m.sample_count = reader.number("sample_count");
  m.samples_us = reader.reals("samples_us");
  m.sm_clock_min_mhz = reader.optional_real("sm_clock_min_mhz");
  m.sm_clock_median_mhz = reader.optional_real("sm_clock_median_mhz");
  m.power_w = reader.optional_real("power_w");
  m.throttle_reasons = reader.mask("throttle_reasons");
  m.baseline_median_us = reader.optional_real("baseline_median_us");
  m.final_round = reader.flag_or("final_round", false);  // older lines do not have it
  m.started_early = starts_early ? *starts_early : reader.flag("started_early");
  timing.run = parse_run(reader.take("run"), name + ".run");
  reader.finish();
  if (auto checked = check_measurement(m); !checked)
    throw BadLine{name + ": " + checked.error().message};
  return timing;
}

Entry read_entry(const json& line) {
  Reader reader(line, "");
  const int64_t version = reader.integer(kVersionKey);
  if (version < 1 || version > kVersion) {
    throw BadLine{"it is of version " + std::to_string(version) +
                  ", this gemm-tune reads versions 1 to " + std::to_string(kVersion)};
  }
  Entry entry;
  Record& r = entry.record;
  r.job.problem =
      stored_form(reader.name("problem", version < kVersionOfUsual256 ? parse_old_key : parse_key));
  r.job.arch = reader.name("arch", parse_any_arch);
  if (const json& device = reader.take("device"); !device.is_null()) {
    entry.device = parse_device(device);
    r.job.device_uuid = entry.device->device.uuid;
  }
  r.job.warm = reader.flag("warm");
  r.key.strategy = reader.text("strategy");
  r.key.config = reader.text("config");
  if (version < kVersionOfSpelling)
    r.key.config = current_config(r.key.strategy, r.key.config, r.job.arch);
  else if (version < kVersionOfSharingBlocks)
    r.key.config = current_config(r.key.strategy, r.key.config);
  r.key.source_hash = reader.text("source_hash");
  r.key.compiler_version = reader.text("compiler_version");
  r.provenance = reader.name("provenance", parse_provenance);
  r.outcome = reader.name("outcome", parse_outcome);
  r.reason = reader.words("reason");
  r.registers = reader.number("registers");
  r.spill_bytes = reader.number("spill_bytes");
  r.smem_bytes = reader.number("smem_bytes");
  r.predicted_us = reader.optional_real("predicted_us");
  r.max_error = reader.optional_real("max_error");
  r.vendor_max_error = reader.optional_real("vendor_max_error");
  r.updated_at = reader.timestamp("updated_at");
  entry.created_at = reader.timestamp("created_at");
  entry.run = parse_run(reader.take("run"), "run");
  const json& timings = reader.take("timings");
  if (!timings.is_array()) throw BadLine{"timings is no list"};
  std::optional<bool> starts_early;
  if (version < kVersionOfEarlyStarts) starts_early = r.key.strategy.starts_with(kStartedEarly);
  for (const json& timing : timings)
    entry.timings.push_back(read_timing(timing, entry.timings.size(), starts_early));
  reader.finish();
  return entry;
}

}  // namespace

ordered_json device_json(const StoredDevice& stored) {
  ordered_json object = gemmtune::device_json(stored.device);
  object["first_seen"] = stored.first_seen;
  return object;
}

ordered_json run_json(const StoredRun& run) {
  ordered_json object;
  object["started_at"] = run.started_at;
  object["tool_version"] = run.info.tool_version;
  object["compiler_version"] = run.info.compiler_version;
  object["driver_version"] = run.info.driver_version;
  object["options"] = run.info.options;
  return object;
}

ordered_json measurement_json(const Measurement& m) {
  ordered_json object;
  object["measured_at"] = m.measured_at;
  object["median_us"] = m.median_us;
  object["ci_low_us"] = m.ci_low_us;
  object["ci_high_us"] = m.ci_high_us;
  object["min_us"] = m.min_us;
  object["sample_count"] = m.sample_count;
  object["samples_us"] = m.samples_us;
  object["sm_clock_min_mhz"] = or_null(m.sm_clock_min_mhz);
  object["sm_clock_median_mhz"] = or_null(m.sm_clock_median_mhz);
  object["power_w"] = or_null(m.power_w);
  object["throttle_reasons"] = m.throttle_reasons;
  object["baseline_median_us"] = or_null(m.baseline_median_us);
  object["final_round"] = m.final_round;
  object["started_early"] = m.started_early;
  return object;
}

ordered_json timing_json(const Timing& timing) {
  ordered_json object = measurement_json(timing.measurement);
  object["run"] = run_json(timing.run);
  return object;
}

ordered_json values_json(const Entry& entry) {
  const Record& r = entry.record;
  ordered_json object;
  object["provenance"] = to_string(r.provenance);
  object["outcome"] = to_string(r.outcome);
  object["reason"] = r.reason;
  object["registers"] = r.registers;
  object["spill_bytes"] = r.spill_bytes;
  object["smem_bytes"] = r.smem_bytes;
  object["predicted_us"] = or_null(r.predicted_us);
  object["max_error"] = or_null(r.max_error);
  object["vendor_max_error"] = or_null(r.vendor_max_error);
  object["updated_at"] = r.updated_at;
  object["run"] = run_json(entry.run);
  return object;
}

std::string to_line(const Entry& entry) {
  const Record& r = entry.record;
  ordered_json object;
  object[kVersionKey] = kVersion;
  object["problem"] = key(r.job.problem);
  object["arch"] = to_string(r.job.arch);
  object["device"] = entry.device ? device_json(*entry.device) : ordered_json(nullptr);
  object["warm"] = r.job.warm;
  object["strategy"] = r.key.strategy;
  object["config"] = r.key.config;
  object["source_hash"] = r.key.source_hash;
  object["compiler_version"] = r.key.compiler_version;
  object.update(values_json(entry));
  object["created_at"] = entry.created_at;
  object["timings"] = ordered_json::array();
  for (const Timing& timing : entry.timings) object["timings"].push_back(timing_json(timing));
  return to_text(object, kOneLine);
}

Expected<Entry> parse_line(std::string_view line) {
  // The library takes a zero byte for the end of the text.
  if (line.find('\0') != std::string_view::npos) return usage_error("it holds a zero byte");
  try {
    const json object = parse_json(line);
    Entry entry = read_entry(object);
    if (auto checked = check_entry(entry); !checked) return tl::unexpected(checked.error());
    return entry;
  } catch (const BadLine& bad) {
    return usage_error(bad.why);
  } catch (const RepeatedKey& repeated) {
    return usage_error(repeated.message);
  } catch (const json::exception&) {
    return usage_error("no JSON, or cut off");
  }
}

}  // namespace gemmtune::store
