#include "store/record_rules.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/names.h"

namespace gemmtune::store {
namespace {

constexpr double kLongestUs = 1e15;  // thirty years, of one call
constexpr double kHighestClockMhz = 1e5;
constexpr double kHighestPowerW = 1e5;

bool is_time(double us) {
  return us > 0 && us <= kLongestUs;  // not for NaN
}

tl::unexpected<Error> out_of_range(const std::string& what, double us) {
  return usage_error(
      fmt::format("{} is {}, a positive number up to {} is needed", what, us, kLongestUs));
}

// Of a text that names something.
Expected<void> check_name(const std::string& what, const std::string& text) {
  constexpr size_t kLongest = 256;
  if (text.size() > kLongest)
    return usage_error(fmt::format("{} is longer than {} bytes", what, kLongest));
  if (has_control_characters(text))
    return usage_error(what + " has control characters: " + in_quotes(text));
  return {};
}

bool allows_measurement(Outcome outcome) {
  return outcome == Outcome::ok || outcome == Outcome::vendor ||
         outcome == Outcome::eliminated_early;
}

}  // namespace

// NaN would be stored as NULL, and infinity would win or lose every comparison.
Expected<void> check_measurement(const Measurement& m) {
  const std::pair<const char*, std::optional<double>> times[] = {
      {"median_us", m.median_us},
      {"ci_low_us", m.ci_low_us},
      {"ci_high_us", m.ci_high_us},
      {"min_us", m.min_us},
      {"baseline_median_us", m.baseline_median_us}};
  for (const auto& [name, time] : times) {
    if (time && !is_time(*time))
      return out_of_range("the measurement's " + std::string(name), *time);
  }
  for (const double sample : m.samples_us) {
    if (!is_time(sample)) return out_of_range("a sample of the measurement", sample);
  }
  if (m.sample_count < 1) return usage_error("the measurement rests on no samples");
  return {};
}

Expected<void> check_device(const Device& device) {
  if (device.uuid.empty()) return usage_error("a device without a uuid cannot be stored");
  if (device.arch.number() < 10) return usage_error("a device without an arch cannot be stored");
  if (auto checked = check_name("a device's uuid", device.uuid); !checked) return checked;
  return check_name("a device's name", device.name);
}

Expected<void> check_job(const Job& job) {
  if (job.arch.number() < 10) return usage_error("a candidate without an arch cannot be stored");
  return validate(job.problem);
}

Expected<void> check_record(const Record& record) {
  if (auto job = check_job(record.job); !job) return job;
  if (record.key.strategy.empty()) return usage_error("a candidate without a strategy");
  const bool measured_here = record.provenance == Provenance::measured;
  if (measured_here && record.job.device_uuid.empty()) {
    return usage_error("a measured candidate without a device");
  }
  if (measured_here && is_modelled(record.job.device_uuid))
    return usage_error("a candidate of a GPU model that is said to be measured");
  if (record.predicted_us && !is_time(*record.predicted_us))
    return out_of_range("predicted_us", *record.predicted_us);
  const std::string outcome(to_string(record.outcome));
  if (record.measurement) {
    if (!allows_measurement(record.outcome)) {
      return usage_error("outcome " + outcome + " goes with no measurement");
    }
    if (!measured_here) {
      return usage_error("provenance " + std::string(to_string(record.provenance)) +
                         " goes with no measurement");
    }
    return check_measurement(*record.measurement);
  }
  if (record.outcome != Outcome::ok && record.outcome != Outcome::vendor) return {};
  if (measured_here) return usage_error("outcome " + outcome + ", measured, needs a measurement");
  if (!record.predicted_us) return usage_error("outcome " + outcome + " needs a time");
  return {};
}

namespace {

// What a measurement says cannot contradict itself.
Expected<void> check_consistent(const Measurement& m) {
  if (!(m.min_us <= m.ci_low_us && m.ci_low_us <= m.median_us && m.median_us <= m.ci_high_us)) {
    return usage_error(
        fmt::format("min_us {}, ci_low_us {}, median_us {} and ci_high_us {} do not ascend",
                    m.min_us, m.ci_low_us, m.median_us, m.ci_high_us));
  }
  if (!m.samples_us.empty() && m.samples_us.size() != static_cast<size_t>(m.sample_count)) {
    return usage_error(fmt::format("sample_count is {}, and there are {} samples", m.sample_count,
                                   m.samples_us.size()));
  }
  const auto in_range = [](const std::optional<double>& value, double most) {
    return !value || (*value >= 0 && *value <= most);
  };
  if (!in_range(m.sm_clock_min_mhz, kHighestClockMhz) ||
      !in_range(m.sm_clock_median_mhz, kHighestClockMhz) ||
      m.sm_clock_min_mhz.value_or(0) > m.sm_clock_median_mhz.value_or(kHighestClockMhz)) {
    return usage_error(
        fmt::format("SM clocks of {} MHz at least and {} MHz in the median cannot be",
                    m.sm_clock_min_mhz.value_or(0), m.sm_clock_median_mhz.value_or(0)));
  }
  if (!in_range(m.power_w, kHighestPowerW))
    return usage_error(fmt::format("power_w is {}, 0 to {} is needed", *m.power_w, kHighestPowerW));
  return {};
}

}  // namespace

Expected<void> check_entry(const Entry& entry) {
  Record latest = entry.record;
  if (!entry.timings.empty() && allows_measurement(latest.outcome))
    latest.measurement = entry.timings.back().measurement;
  if (auto checked = check_record(latest); !checked) return checked;
  const std::string uuid = entry.device ? entry.device->device.uuid : "";
  if (uuid != latest.job.device_uuid) return usage_error("the entry's device is not its job's");
  if (entry.device) {
    if (auto checked = check_device(entry.device->device); !checked) return checked;
  }
  for (const Timing& timing : entry.timings) {
    if (auto checked = check_measurement(timing.measurement); !checked) return checked;
    if (auto checked = check_consistent(timing.measurement); !checked) return checked;
  }
  for (const auto& [name, error] : {std::pair("max_error", latest.max_error),
                                    std::pair("vendor_max_error", latest.vendor_max_error)}) {
    if (error && !(*error >= 0))
      return usage_error(fmt::format("{} is {}, a number of at least 0 is needed", name, *error));
  }
  if (latest.provenance != Provenance::measured && !entry.timings.empty())
    return usage_error("provenance " + std::string(to_string(latest.provenance)) +
                       " goes with no timing");
  return {};
}

Expected<void> check_claim(const ClaimRequest& request) {
  if (request.owner.id.empty()) return usage_error("a claim needs an owner");
  if (request.lifetime.count() <= 0) return usage_error("a claim needs a lifetime above 0 s");
  return {};
}

}  // namespace gemmtune::store
