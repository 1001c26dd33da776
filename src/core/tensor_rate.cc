#include "core/tensor_rate.h"

namespace gemmtune {

bool on_tensor_cores(DataType type, MathMode math) {
  return type != DataType::f32 || math != MathMode::ieee;
}

double tensor_tflops(DataType type, MathMode math, const DeviceSpec& device) {
  if (is_8_bit(type)) return 2 * device.tensor_f16_tflops;
  if (type != DataType::f32) return device.tensor_f16_tflops;
  switch (math) {
    case MathMode::tf32:
      return device.tensor_f16_tflops / 2;
    case MathMode::tf32x3:
    case MathMode::bf16x6:
      return device.tensor_f16_tflops / 6;
    case MathMode::bf16x9:
      return device.tensor_f16_tflops / 9;
    case MathMode::f16:
    case MathMode::ieee:
    case MathMode::fast_accum:
      break;
  }
  return device.tensor_f16_tflops;
}

}  // namespace gemmtune
