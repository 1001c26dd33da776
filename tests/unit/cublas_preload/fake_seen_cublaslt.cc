#include "fake_entry.h"

extern "C" gemmtune::fake_cublas::Calls* gemmtune_fake_cublas() {
  static gemmtune::fake_cublas::Calls calls;
  return &calls;
}

namespace gemmtune::cublas_preload {
GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_FAKE)
}  // namespace gemmtune::cublas_preload

// What is asked of it notes nothing but that it was asked.
namespace lt = gemmtune::vendor::lt;

static lt::Status asked() {
  gemmtune::fake_cublas::Calls& calls = *gemmtune_fake_cublas();
  const std::lock_guard lock(calls.mutex);
  ++calls.questions;
  return static_cast<lt::Status>(calls.status);
}

extern "C" {

lt::Status cublasLtMatmulPreferenceCreate(lt::Preference* preference) {
  *preference = reinterpret_cast<lt::Preference>(gemmtune_fake_cublas());
  return asked();
}

lt::Status cublasLtMatmulPreferenceSetAttribute(lt::Preference, lt::PreferenceAttribute,
                                                const void*, size_t) {
  return asked();
}

lt::Status cublasLtMatmulPreferenceDestroy(lt::Preference) {
  return asked();
}

lt::Status cublasLtMatmulAlgoGetHeuristic(lt::Handle, lt::Operation, lt::Layout, lt::Layout,
                                          lt::Layout, lt::Layout, lt::Preference, int,
                                          lt::Choice* choices, int* returned) {
  choices[0] = {};
  choices[0].algorithm.state[0] = gemmtune::fake_cublas::kFirstChoice;
  *returned = 1;
  return asked();
}

}  // extern "C"

extern "C" int gemmtune_fake_place() {
  return 2;
}
