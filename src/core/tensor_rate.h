#pragma once

#include "core/device.h"
#include "core/types.h"

namespace gemmtune {

// Whether kernels for such operands multiply on the tensor cores: all but plain f32 do.
bool on_tensor_cores(DataType type, MathMode math);

// Peak rate of dense products in TFLOP/s; where a product of f32 takes
// several, of those.
double tensor_tflops(DataType type, MathMode math, const DeviceSpec& device);

}  // namespace gemmtune
