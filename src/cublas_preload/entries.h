#pragma once

#include "cublas_preload/entry_list.h"

// The functions that this library stands in front of, declared.
namespace gemmtune::cublas_preload {

// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define GEMMTUNE_DECLARE_ENTRY(name, signature) [[gnu::hot]] signature name;
extern "C" {
GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_DECLARE_ENTRY)
GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_DECLARE_ENTRY)
GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_DECLARE_ENTRY)
}
#undef GEMMTUNE_DECLARE_ENTRY

}  // namespace gemmtune::cublas_preload
