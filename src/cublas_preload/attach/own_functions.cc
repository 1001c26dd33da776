#include "cublas_preload/attach/own_functions.h"

#include <string_view>

#include "cublas_preload/entries.h"

namespace gemmtune::cublas_preload {

std::vector<Hook> own_functions() {
  std::vector<Hook> hooks;
  const auto add = [&hooks](const char* name, void* function, bool computes) {
    hooks.push_back({name, function, computes});
  };
#define GEMMTUNE_PRODUCT_HOOK(name, signature) add(#name, reinterpret_cast<void*>(&(name)), true);
#define GEMMTUNE_OTHER_HOOK(name, signature) \
  add(#name, reinterpret_cast<void*>(&(name)), std::string_view(#name) == "cublasLtMatmul");
  GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_PRODUCT_HOOK)
  GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_OTHER_HOOK)
  GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_OTHER_HOOK)
#undef GEMMTUNE_PRODUCT_HOOK
#undef GEMMTUNE_OTHER_HOOK
  return hooks;
}

}  // namespace gemmtune::cublas_preload
