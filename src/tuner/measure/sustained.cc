#include "tuner/measure/sustained.h"

#include <chrono>
#include <thread>
#include <vector>

#include "core/seconds_since.h"

namespace gemmtune::tuner {
namespace {

// A limit's swings are over after some 100 ms (docs/decisions/0028-full-clocks.md).
constexpr double kSettlingSeconds = 0.2;
constexpr double kMeasuredSeconds = 0.15;
constexpr size_t kFewestSamples = 3;
// A reading may take longer than a graph, and the card then waits for the next one.
constexpr size_t kSamplesPerReading = 4;

}  // namespace

std::optional<double> SustainedLoad::energy_j() const {
  if (!power_w) return std::nullopt;
  return *power_w * time_us * 1e-6;
}

gpu::Result<SustainedLoad> measure_sustained(const TimedGraph& graph, const gpu::Stream& stream,
                                             const std::optional<gpu::NvmlDevice>& nvml) {
  const auto start = std::chrono::steady_clock::now();
  do {
    if (auto ran = graph.sample_us(stream); !ran) return tl::unexpected(ran.error());
  } while (seconds_since(start) < kSettlingSeconds);
  const auto settled = std::chrono::steady_clock::now();
  std::vector<double> times_us;
  std::vector<gpu::ClockSample> read;
  while (times_us.size() < kFewestSamples || seconds_since(settled) < kMeasuredSeconds) {
    const bool reads = times_us.size() % kSamplesPerReading == 0;
    const auto sample = graph.sample_and_read(stream, reads ? nvml : std::nullopt);
    if (!sample) return tl::unexpected(sample.error());
    times_us.push_back(sample->time_us);
    if (sample->clocks) read.push_back(*sample->clocks);
  }
  std::this_thread::sleep_for(kRestAfterLoad);
  const ClockSummary clocks = summarize(read);
  return SustainedLoad{median_interval(times_us).median, clocks.sm_clock_median_mhz,
                       clocks.power_median_w};
}

}  // namespace gemmtune::tuner
