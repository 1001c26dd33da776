#pragma once

#include "core/device.h"
#include "core/problem.h"

// What bounds the time of a product on a device.
namespace gemmtune {

// Of the units that compute the product, in TFLOP/s: at boost clock, or as the data sheet says.
double peak_tflops(const Problem& problem, const DeviceSpec& device);
// A, B and C once.
double least_bytes(const Problem& problem);
// What a product takes at least on a device: its operations at the rate of the units that compute
// it, or its operands and C once through memory.
double floor_us(const Problem& problem, const DeviceSpec& device);

}  // namespace gemmtune
