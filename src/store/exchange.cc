#include "store/exchange.h"

#include <algorithm>
#include <tuple>

#include "store/entry_json.h"

namespace gemmtune::store {
namespace {

// Values beside the timings, in the order in which one side wins over another.
auto rank(const Entry& entry) {
  return std::tuple(-static_cast<int>(entry.record.provenance), entry.record.updated_at,
                    to_text(values_json(entry)));
}

// Oldest first; the text decides between those of one moment.
std::pair<std::string, std::string> place(const Timing& timing) {
  return {timing.measurement.measured_at, to_text(timing_json(timing))};
}

std::vector<Timing> united(const Entry& a, const Entry& b) {
  std::vector<std::pair<std::pair<std::string, std::string>, const Timing*>> all;
  for (const Entry* entry : {&a, &b}) {
    for (const Timing& timing : entry->timings) all.emplace_back(place(timing), &timing);
  }
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const auto& x, const auto& y) { return x.first == y.first; }),
            all.end());
  std::vector<Timing> timings;
  timings.reserve(all.size());
  for (const auto& [key, timing] : all) timings.push_back(*timing);
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
    return std::pair(stored.device.driver_version, to_text(device_json(stored)));
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
