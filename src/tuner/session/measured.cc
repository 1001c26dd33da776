#include "tuner/session/measured.h"

#include <algorithm>

namespace gemmtune::tuner {

store::Measurement to_measurement(const Contender& contender, std::optional<double> baseline_us) {
  const MedianInterval interval = median_interval(contender.samples_us);
  const ClockSummary clocks = summarize(contender.clocks);
  store::Measurement m;
  m.median_us = interval.median;
  m.ci_low_us = interval.low;
  m.ci_high_us = interval.high;
  m.min_us = *std::min_element(contender.samples_us.begin(), contender.samples_us.end());
  m.sample_count = interval.count;
  m.samples_us = contender.samples_us;
  m.sm_clock_min_mhz = clocks.sm_clock_min_mhz;
  m.sm_clock_median_mhz = clocks.sm_clock_median_mhz;
  m.power_w = clocks.power_w;
  m.throttle_reasons = clocks.throttle_reasons;
  m.baseline_median_us = baseline_us;
  return m;
}

}  // namespace gemmtune::tuner
