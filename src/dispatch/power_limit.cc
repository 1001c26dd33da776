#include "dispatch/power_limit.h"

#include "core/tensor_rate.h"

namespace gemmtune::dispatch {
namespace {

// Of the tensor cores' peak. Results of products that reach less hold on other H100s.
constexpr double kRateAtLimit = 0.5;
constexpr double kLongerAtLimit = 1.03;

}  // namespace

double longer_on_another_card(const Problem& problem, double time_us, const DeviceSpec& device) {
  return may_be_at_power_limit(problem, time_us, device) ? kLongerAtLimit : 1;
}

bool may_be_at_power_limit(const Problem& problem, double time_us, const DeviceSpec& device) {
  if (!on_tensor_cores(problem.type, problem.math)) return false;
  const double peak_tflops = tensor_tflops(problem.type, problem.math, device);
  return peak_tflops > 0 && flops(problem) / time_us * 1e-6 > kRateAtLimit * peak_tflops;
}

}  // namespace gemmtune::dispatch
