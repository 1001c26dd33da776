// cublasLtMatmul.
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {

using lt::Layout;
using lt::Operation;
using lt::Status;

namespace {

// What a call with these descriptors asks for. Also fills in pointers.bias.
Product product_of(Recorder& recorder, const MatmulCall& matmul, CallPointers& pointers) {
  const auto workspace_bytes = static_cast<int64_t>(matmul.workspace_bytes);
  const DescriptorMemory* const memory = recorder.descriptors.find(matmul.function);
  if (memory == nullptr) return matmul_product({}, pointers, workspace_bytes);
  OperationState operation;
  LayoutState a;
  LayoutState b;
  LayoutState c;
  LayoutState d;
  MatmulStates states;
  const auto read = [memory]<class State>(auto* descriptor, State& state) -> const State* {
    return memory->read(descriptor, state) ? &state : nullptr;
  };
  states.operation = read(matmul.operation, operation);
  states.a = read(matmul.a, a);
  states.b = read(matmul.b, b);
  states.d = read(matmul.d, d);
  states.c = matmul.c == matmul.d ? states.d : read(matmul.c, c);
  pointers.bias = operation.bias;
  return matmul_product(states, pointers, workspace_bytes);
}

}  // namespace

extern "C" {

Status cublasLtMatmul(lt::Handle handle, Operation operation, const void* alpha, const void* a,
                      Layout a_layout, const void* b, Layout b_layout, const void* beta,
                      const void* c, Layout c_layout, void* d, Layout d_layout,
                      const lt::Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                      CUstream stream) {
  const auto real = GEMMTUNE_REAL(cublasLtMatmul);
  const auto call = [&] {
    return real(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
                algorithm, workspace, workspace_bytes, stream);
  };
  Recorder* const recorder = Recorder::get();
  if (recorder == nullptr) return call();
  CallPointers pointers = {a, b, c, d, beta, alpha, nullptr};
  const MatmulCall matmul = {real.address(), handle,   operation, a_layout,
                             b_layout,       c_layout, d_layout,  workspace_bytes};
  const Asked asked = {product_of(*recorder, matmul, pointers),  // which completes the pointers
                       pointers,
                       stream,
                       algorithm == nullptr ? AlgorithmChoice::cublas : AlgorithmChoice::caller,
                       algorithm,
                       &matmul,
                       handle != nullptr};
  return recorder->serve(asked, call);
}

}  // extern "C"

}  // namespace gemmtune::cublas_preload
