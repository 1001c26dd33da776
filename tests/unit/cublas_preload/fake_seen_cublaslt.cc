#include "fake_entry.h"

extern "C" gemmtune::fake_cublas::Calls* gemmtune_fake_cublas() {
  static gemmtune::fake_cublas::Calls calls;
  return &calls;
}

namespace gemmtune::cublas_preload {
GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_FAKE)
}  // namespace gemmtune::cublas_preload

extern "C" int gemmtune_fake_place() {
  return 2;
}
