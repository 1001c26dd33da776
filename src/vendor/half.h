#pragma once

#include <cstdint>

namespace gemmtune::vendor {

// The IEEE binary16 bits nearest to `value`, ties to even; too large becomes infinity. cuBLASLt
// takes its scalars in this form when sums are formed in f16.
uint16_t half_bits(float value);

}  // namespace gemmtune::vendor
