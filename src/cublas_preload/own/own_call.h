#pragma once

#include <cstdint>

#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {

class ContextKernels;
struct OwnPlan;

// What is to become of one call.
struct OwnCall {
  enum class Verdict {
    hand_on,  // there is no own kernel for the problem
    detour,   // there is, but not for this call
    own,
  };
  Verdict verdict = Verdict::hand_on;
  Detour detour = Detour::operands;
  bool captured = false;                    // the stream is under capture
  const ContextKernels* context = nullptr;  // these are for `own` only
  const OwnPlan* plan = nullptr;
  float alpha = 0;  // of scalars in host memory
  float beta = 0;
  void* workspace = nullptr;
};

}  // namespace gemmtune::cublas_preload
