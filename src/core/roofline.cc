#include "core/roofline.h"

#include <algorithm>

#include "core/tensor_rate.h"

namespace gemmtune {

double peak_tflops(const Problem& problem, const DeviceSpec& device) {
  if (on_tensor_cores(problem.type, problem.math) && device.tensor_f16_tflops > 0)
    return tensor_tflops(problem.type, problem.math, device);
  return 2.0 * device.fp32_lanes_per_sm * device.sm_count * device.boost_clock_mhz * 1e-6;
}

double least_bytes(const Problem& problem) {
  return static_cast<double>(bytes_of_matrices(problem));
}

double floor_us(const Problem& problem, const DeviceSpec& device) {
  return std::max(flops(problem) / peak_tflops(problem, device) * 1e-6,
                  least_bytes(problem) / device.memory_gb_per_s * 1e-3);
}

}  // namespace gemmtune
