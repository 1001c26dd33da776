#include "dispatch/power_limit.h"

#include "core/tensor_rate.h"

namespace gemmtune::dispatch {
namespace {

// Of the tensor cores' peak. Results of products that reach less hold on other H100s.
constexpr double kRateAtLimit = 0.5;
constexpr double kLongerAtLimit = 1.03;
constexpr double kRateFarBelowPeak = 0.25;

// The part of the tensor cores' peak that a product reaches; 0 where it is not on them.
double part_of_peak(const Problem& problem, double time_us, const DeviceSpec& device) {
  if (!on_tensor_cores(problem.type, problem.math)) return 0;
  const double peak_tflops = tensor_tflops(problem.type, problem.math, device);
  return peak_tflops > 0 ? flops(problem) / time_us * 1e-6 / peak_tflops : 0;
}

}  // namespace

double longer_on_another_card(const Problem& problem, double time_us, const DeviceSpec& device) {
  return may_be_at_power_limit(problem, time_us, device) ? kLongerAtLimit : 1;
}

bool may_be_at_power_limit(const Problem& problem, double time_us, const DeviceSpec& device) {
  return part_of_peak(problem, time_us, device) > kRateAtLimit;
}

bool is_far_below_peak(const Problem& problem, double time_us, const DeviceSpec& device) {
  const double part = part_of_peak(problem, time_us, device);
  return part > 0 && part < kRateFarBelowPeak;
}

}  // namespace gemmtune::dispatch
