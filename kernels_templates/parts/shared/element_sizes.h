#pragma once

#include "parts/shared/element_types.h"
#include "parts/shared/host_device.h"

namespace gemmtune {

GEMMTUNE_HOST_DEVICE constexpr int size_bytes(ElementType type) {
  switch (type) {
    case kF32:
      return 4;
    case kF16:
    case kBf16:
      break;
  }
  return 2;
}

}  // namespace gemmtune
