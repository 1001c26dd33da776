#pragma once

// What a kernel is given of a CUtensorMap: 128 opaque bytes that the driver encodes and TMA copies
// read (PTX ISA, "Tensor-map"). Compiled by NVRTC, so nothing is included here.

namespace gemmtune {

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

}  // namespace gemmtune
