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
constexpr int kFewestSamples = 3;
// A reading may take longer than a graph, and the card then waits for the next one.
constexpr size_t kSamplesPerReading = 4;

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return median_interval(values).median;
}

// Times of one product, and what was read meanwhile.
struct Readings {
  std::vector<double> times_us;
  std::vector<double> clocks_mhz;
  std::vector<double> powers_w;
};

gpu::Result<void> read(const TimedGraph& graph, const gpu::Stream& stream,
                       const std::optional<gpu::NvmlDevice>& nvml, Readings& readings) {
  if (auto started = graph.start(stream); !started) return started;
  if (nvml && readings.times_us.size() % kSamplesPerReading == 0) {
    const gpu::ClockSample sample = nvml->sample();
    if (sample.sm_clock_mhz) readings.clocks_mhz.push_back(*sample.sm_clock_mhz);
    if (sample.power_w) readings.powers_w.push_back(*sample.power_w);
  }
  const auto time = graph.wait_us();
  if (!time) return tl::unexpected(time.error());
  readings.times_us.push_back(*time);
  return {};
}

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
  Readings readings;
  while (readings.times_us.size() < kFewestSamples || seconds_since(settled) < kMeasuredSeconds) {
    if (auto done = read(graph, stream, nvml, readings); !done) return tl::unexpected(done.error());
  }
  std::this_thread::sleep_for(kRestAfterLoad);
  return SustainedLoad{median_interval(readings.times_us).median, median_of(readings.clocks_mhz),
                       median_of(readings.powers_w)};
}

}  // namespace gemmtune::tuner
