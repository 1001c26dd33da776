#pragma once

// Shared by the sources of this folder only: the library's function table, and owners of its
// handles.

#include <cublasLt.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "gpu/cuda_error.h"
#include "gpu/shared_library.h"
#include "vendor/cublaslt.h"

namespace gemmtune::vendor {

// Every cuBLASLt function used: member and exported symbol. The same in the libraries of CUDA 12
// and 13.
#define GEMMTUNE_CUBLASLT_ENTRIES(X)                      \
  X(get_version, cublasLtGetVersion)                      \
  X(get_status_name, cublasLtGetStatusName)               \
  X(create, cublasLtCreate)                               \
  X(destroy, cublasLtDestroy)                             \
  X(matmul, cublasLtMatmul)                               \
  X(layout_create, cublasLtMatrixLayoutCreate)            \
  X(layout_destroy, cublasLtMatrixLayoutDestroy)          \
  X(layout_set, cublasLtMatrixLayoutSetAttribute)         \
  X(desc_create, cublasLtMatmulDescCreate)                \
  X(desc_destroy, cublasLtMatmulDescDestroy)              \
  X(desc_set, cublasLtMatmulDescSetAttribute)             \
  X(preference_create, cublasLtMatmulPreferenceCreate)    \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy)  \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute) \
  X(get_heuristic, cublasLtMatmulAlgoGetHeuristic)        \
  X(config_get, cublasLtMatmulAlgoConfigGetAttribute)

struct CublasLtLibrary::Impl {
  explicit Impl(gpu::SharedLibrary opened) : library(std::move(opened)) {}

  // Success, or an error that names the call and the status.
  gpu::Result<void> check(cublasStatus_t status, std::string_view what) const;

  gpu::SharedLibrary library;
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define GEMMTUNE_DECLARE_ENTRY(member, function) decltype(&::function) member = nullptr;
  GEMMTUNE_CUBLASLT_ENTRIES(GEMMTUNE_DECLARE_ENTRY)
#undef GEMMTUNE_DECLARE_ENTRY
};

struct CublasLt::Handle {
  std::shared_ptr<const CublasLtLibrary> library;
  std::shared_ptr<const gpu::Context> context;
  cublasLtHandle_t value = nullptr;

  const CublasLtLibrary::Impl& api() const { return library->impl(); }
  ~Handle();
};

// Owner of a descriptor, which its own library function destroys.
template <class Pointer>
struct DescriptorDeleter {
  cublasStatus_t (*destroy)(Pointer) = nullptr;
  void operator()(Pointer value) const { destroy(value); }
};
template <class Pointer>
using Descriptor = std::unique_ptr<std::remove_pointer_t<Pointer>, DescriptorDeleter<Pointer>>;

// How a problem's types are spelled in cuBLASLt.
struct MatmulTypes {
  cudaDataType_t operand = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scalar = CUDA_R_32F;  // of alpha and beta

  bool operator==(const MatmulTypes&) const = default;
};
MatmulTypes matmul_types(const Problem& problem);

}  // namespace gemmtune::vendor
