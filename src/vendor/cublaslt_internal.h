#pragma once

// Shared by the sources of this folder only: the library's function table, and owners of its
// handles.

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "gpu/cuda_error.h"
#include "gpu/shared_library.h"
#include "vendor/cublaslt.h"
#include "vendor/cublaslt_api.h"

namespace gemmtune::vendor {

struct CublasLtLibrary::Impl {
  explicit Impl(gpu::SharedLibrary opened) : library(std::move(opened)) {}

  // Success, or an error that names the call and the status.
  gpu::Result<void> check(lt::Status status, std::string_view what) const;

  gpu::SharedLibrary library;
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define GEMMTUNE_DECLARE_ENTRY(member, symbol) lt::Functions::member* member = nullptr;
  GEMMTUNE_CUBLASLT_ENTRIES(GEMMTUNE_DECLARE_ENTRY)
#undef GEMMTUNE_DECLARE_ENTRY
};

struct CublasLt::Handle {
  std::shared_ptr<const CublasLtLibrary> library;
  std::shared_ptr<const gpu::Context> context;
  lt::Handle value = nullptr;

  const CublasLtLibrary::Impl& api() const { return library->impl(); }
  ~Handle();
};

// Owner of a descriptor, which its own library function destroys.
template <class Pointer>
struct DescriptorDeleter {
  lt::Status (*destroy)(Pointer) = nullptr;
  void operator()(Pointer value) const { destroy(value); }
};
template <class Pointer>
using Descriptor = std::unique_ptr<std::remove_pointer_t<Pointer>, DescriptorDeleter<Pointer>>;

// How a problem's types are spelled in cuBLASLt.
struct MatmulTypes {
  lt::ElementType operand = lt::ElementType::f32;
  lt::ElementType result = lt::ElementType::f32;  // of C, D and the bias
  lt::ComputeType compute = lt::ComputeType::f32;
  lt::ElementType scalar = lt::ElementType::f32;  // of alpha and beta
  bool fast_sums = false;                         // of 8-bit operands, in the tensor cores alone

  bool operator==(const MatmulTypes&) const = default;
};
MatmulTypes matmul_types(const Problem& problem);

// Unsupported for what cuBLASLt lacks.
Expected<void> check_types(const Problem& problem);
Expected<lt::Epilogue> matmul_epilogue(const Problem& problem);

}  // namespace gemmtune::vendor
