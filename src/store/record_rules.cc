#include "store/record_rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace gemmtune::store {
namespace {

bool allows_measurement(Outcome outcome) {
  return outcome == Outcome::ok || outcome == Outcome::vendor ||
         outcome == Outcome::eliminated_early;
}

}  // namespace

// NaN would be stored as NULL and infinity would win or lose every comparison.
Expected<void> check_measurement(const Measurement& measurement) {
  const std::pair<const char*, double> times[] = {{"median_us", measurement.median_us},
                                                  {"ci_low_us", measurement.ci_low_us},
                                                  {"ci_high_us", measurement.ci_high_us},
                                                  {"min_us", measurement.min_us}};
  for (const auto& [name, time] : times) {
    if (!std::isfinite(time) || time <= 0) {
      return usage_error("the measurement's " + std::string(name) + " is " + std::to_string(time) +
                         ", a positive number is needed");
    }
  }
  const bool finite = std::all_of(measurement.samples_us.begin(), measurement.samples_us.end(),
                                  [](double sample) { return std::isfinite(sample); });
  if (!finite) return usage_error("a sample of the measurement is not a finite number");
  if (measurement.sample_count < 1) return usage_error("the measurement rests on no samples");
  return {};
}

Expected<void> check_device(const Device& device) {
  if (device.uuid.empty()) return usage_error("a device without a uuid cannot be stored");
  if (device.arch.number() < 10) return usage_error("a device without an arch cannot be stored");
  return {};
}

Expected<void> check_job(const Job& job) {
  if (job.arch.number() < 10) return usage_error("a record without an arch cannot be stored");
  return validate(job.problem);
}

Expected<void> check_record(const Record& record) {
  if (auto job = check_job(record.job); !job) return job;
  if (record.key.strategy.empty()) return usage_error("a record without a strategy");
  const bool measured_here = record.provenance == Provenance::measured;
  if (measured_here && record.job.device_uuid.empty()) {
    return usage_error("a measured record without a device");
  }
  if (record.predicted_us && !(std::isfinite(*record.predicted_us) && *record.predicted_us > 0)) {
    return usage_error("predicted_us is " + std::to_string(*record.predicted_us) +
                       ", a positive number is needed");
  }
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
