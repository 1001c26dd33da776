#pragma once

#include "parts/shared/element_types.h"
#include "parts/shared/host_device.h"

namespace gemmtune {

GEMMTUNE_HOST_DEVICE constexpr int size_bytes(ElementType type) {
  switch (type) {
    case kF32:
    case kI32:
      return 4;
    case kF16:
    case kBf16:
      return 2;
    case kE4m3:
    case kE5m2:
    case kI8:
      break;
  }
  return 1;
}

// Of an operand's element as wgmma kernels multiply it.
GEMMTUNE_HOST_DEVICE constexpr int multiplied_bytes(const ElementTypes& types) {
  switch (types.products) {
    case kHalf:
    case kBf16x6:
    case kBf16x9:
      return 2;
    case kExact:
    case kTf32:
    case k3xTf32:
    case kFast:
      break;
  }
  return size_bytes(types.operand);
}

}  // namespace gemmtune
