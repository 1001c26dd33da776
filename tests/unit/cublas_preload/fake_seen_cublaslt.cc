#include "descriptor_calls.h"
#include "fake_descriptors.h"
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

// Descriptors of its own.
template <size_t kBytes, class Descriptor, class Init>
static lt::Status create(Descriptor* descriptor, const Init& init) {
  auto* const memory = new std::byte[kBytes]();
  *descriptor = reinterpret_cast<Descriptor>(memory);
  return init(*descriptor);
}

template <class Descriptor>
static lt::Status destroy(Descriptor descriptor) {
  delete[] reinterpret_cast<std::byte*>(descriptor);
  return lt::Status::success;
}

extern "C" {

namespace fake = gemmtune::fake_cublas;

lt::Status cublasLtMatrixLayoutCreate(lt::Layout* layout, lt::ElementType type, uint64_t rows,
                                      uint64_t columns, int64_t ld) {
  return create<fake::kLayoutBytes>(layout, [&](lt::Layout made) {
    return fake::init_layout(made, fake::kLayoutBytes, type, rows, columns, ld);
  });
}

lt::Status cublasLtMatrixLayoutInit_internal(lt::Layout layout, size_t bytes, lt::ElementType type,
                                             uint64_t rows, uint64_t columns, int64_t ld) {
  return fake::init_layout(layout, bytes, type, rows, columns, ld);
}

lt::Status cublasLtMatrixLayoutSetAttribute(lt::Layout layout, lt::LayoutAttribute attribute,
                                            const void* value, size_t bytes) {
  return fake::set_layout(layout, attribute, value, bytes);
}

lt::Status cublasLtMatrixLayoutDestroy(lt::Layout layout) {
  return destroy(layout);
}

lt::Status cublasLtMatmulDescCreate(lt::Operation* operation, lt::ComputeType compute,
                                    lt::ElementType scalars) {
  return create<fake::kOperationBytes>(operation, [&](lt::Operation made) {
    return fake::init_operation(made, fake::kOperationBytes, compute, scalars);
  });
}

lt::Status cublasLtMatmulDescInit_internal(lt::Operation operation, size_t bytes,
                                           lt::ComputeType compute, lt::ElementType scalars) {
  return fake::init_operation(operation, bytes, compute, scalars);
}

lt::Status cublasLtMatmulDescSetAttribute(lt::Operation operation, lt::OperationAttribute attribute,
                                          const void* value, size_t bytes) {
  return fake::set_operation(operation, attribute, value, bytes);
}

lt::Status cublasLtMatmulDescDestroy(lt::Operation operation) {
  return destroy(operation);
}

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
