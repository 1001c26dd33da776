#include "store/exchange.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/json_text.h"
#include "store/entry_json.h"

namespace gemmtune::store {
namespace {

// Values beside the timings, in the order in which one side wins over another.
auto rank(const Entry& entry) {
  return std::tuple(-static_cast<int>(entry.record.provenance), entry.record.updated_at,
                    to_text(values_json(entry), kOneLine));
}

// Oldest first; the text decides between those of one moment. An older line does not say that a
// timing is of a final round, and is of the same timing all the same.
std::pair<std::string, std::string> place(Timing timing) {
  timing.measurement.final_round = false;
  return {timing.measurement.measured_at, to_text(timing_json(timing), kOneLine)};
}

std::vector<Timing> united(const Entry& a, const Entry& b) {
  std::map<std::pair<std::string, std::string>, Timing> all;
  for (const Entry* entry : {&a, &b}) {
    for (const Timing& timing : entry->timings) {
      bool& final_round =
          all.try_emplace(place(timing), timing).first->second.measurement.final_round;
      final_round = final_round || timing.measurement.final_round;
    }
  }
  std::vector<Timing> timings;
  timings.reserve(all.size());
  for (auto& [key, timing] : all) timings.push_back(std::move(timing));
  return timings;
}

}  // namespace

std::string identity(const Entry& entry) {
  const Job& job = entry.record.job;
  const CandidateKey& c = entry.record.key;
  std::string text = key(job.problem);
  const std::string warm = job.warm ? "warm" : "cold";
  for (const std::string& part : {to_string(job.arch), job.device_uuid, warm, c.strategy, c.config,
                                  c.source_hash, c.compiler_version}) {
    text += '\n';  // in none of them
    text += part;
  }
  return text;
}

StoredDevice merged(const StoredDevice& a, const StoredDevice& b) {
  const auto rank = [](const StoredDevice& stored) {
    return std::pair(stored.device.driver_version, to_text(device_json(stored), kOneLine));
  };
  StoredDevice result = rank(a) < rank(b) ? b : a;
  result.first_seen = std::min(a.first_seen, b.first_seen);
  return result;
}

Entry merged(const Entry& a, const Entry& b) {
  Entry result = rank(a) < rank(b) ? b : a;
  result.created_at = std::min(a.created_at, b.created_at);
  if (a.device && b.device) result.device = merged(*a.device, *b.device);
  result.timings = united(a, b);
  return result;
}

}  // namespace gemmtune::store
