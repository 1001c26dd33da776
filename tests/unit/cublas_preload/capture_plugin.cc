// A library that multiplies by cuBLAS, to be loaded by a program that is not linked to it.
#include "cublas_preload/entries.h"
#include "fake_calls.h"

// How many calls its own cuBLAS has had since.
extern "C" int multiply() {
  using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
  const float one = 1;
  const float zero = 0;
  cublasSgemm_v2(nullptr, lt::Transpose::no, lt::Transpose::no, 77, 8, 8, &one, nullptr, 77,
                 nullptr, 8, &zero, nullptr, 77);
  return static_cast<int>(gemmtune_fake_cublas()->products);
}
