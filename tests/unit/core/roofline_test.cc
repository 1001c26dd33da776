#include "core/roofline.h"

#include <doctest/doctest.h>

namespace gemmtune {
namespace {

TEST_CASE("the floor is the slower one of the units and of memory") {
  DeviceSpec device;
  device.sm_count = 100;
  device.fp32_lanes_per_sm = 128;
  device.boost_clock_mhz = 1000;  // 25.6 TFLOP/s
  device.tensor_f16_tflops = 1000;
  device.memory_gb_per_s = 2000;
  const Shape large = {4096, 4096, 4096};
  const double operations = 2.0 * 4096 * 4096 * 4096;
  const double matrix = 4096.0 * 4096;
  const auto floor = [&](const Shape& shape, DataType type, MathMode math = MathMode::ieee) {
    Problem problem = make_problem(shape, type);
    problem.math = math;
    return floor_us(problem, device);
  };
  CHECK(floor(large, DataType::f32) == doctest::Approx(operations / 25.6e12 * 1e6));
  CHECK(floor(large, DataType::bf16) == doctest::Approx(operations / 1e15 * 1e6));
  CHECK(floor(large, DataType::f32, MathMode::tf32) == doctest::Approx(operations / 5e14 * 1e6));
  CHECK(floor({1, 4096, 4096}, DataType::bf16) ==
        doctest::Approx(2 * (matrix + 2 * 4096) / 2e12 * 1e6));
  device.tensor_f16_tflops = 0;  // 16-bit products on the other units
  CHECK(floor(large, DataType::f16) == doctest::Approx(operations / 25.6e12 * 1e6));
}

}  // namespace
}  // namespace gemmtune
