#pragma once

#include "core/device.h"

namespace gemmtune {

// Whether both are cards of one GPU model: what was measured on one of them holds for the other.
inline bool same_model(const Device& a, const Device& b) {
  return a.name == b.name && a.sm_count == b.sm_count;
}

}  // namespace gemmtune
