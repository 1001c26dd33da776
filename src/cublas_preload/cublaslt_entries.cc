// cublasLtMatmul.
#include "cublas_preload/code_lines.h"
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {

using lt::Layout;
using lt::Operation;
using lt::Status;

namespace {

// What a call asks for. Also fills in the pointers of `pointers` that its operation has.
Product product_of(const DescriptorMemory* memory, const MatmulCall& call, CallPointers& pointers) {
  const auto workspace_bytes = static_cast<int64_t>(call.workspace_bytes);
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
  states.operation = read(call.operation, operation);
  states.a = read(call.a_layout, a);
  states.b = read(call.b_layout, b);
  states.d = read(call.d_layout, d);
  states.c = call.c_layout == call.d_layout ? states.d : read(call.c_layout, c);
  pointers.bias = operation.bias;
  pointers.scale_a = operation.scale_a;
  pointers.scale_b = operation.scale_b;
  return matmul_product(states, pointers, workspace_bytes);
}

// Serves a call that is not known to be handed on. A function of its own, so that the way of those
// that are takes few lines of the processor's cache, and leaves the arguments in their registers.
[[gnu::noinline, gnu::cold]] Status serve_unknown(
    uint64_t key, lt::Functions::matmul* function, lt::Handle handle, Operation operation,
    const void* alpha, const void* a, Layout a_layout, const void* b, Layout b_layout,
    const void* beta, const void* c, Layout c_layout, void* d, Layout d_layout,
    const lt::Algorithm* algorithm, void* workspace, size_t workspace_bytes, CUstream stream) {
  const MatmulCall call = {
      function, handle, operation, alpha,     a,         a_layout,        b,     b_layout, beta, c,
      c_layout, d,      d_layout,  algorithm, workspace, workspace_bytes, stream};
  Recorder* const recorder = Recorder::get();
  if (recorder == nullptr) return call();
  const DescriptorMemory* const memory =
      recorder->descriptors.find(reinterpret_cast<const void*>(function));
  CallPointers pointers = {a, b, c, d, beta, alpha, nullptr};
  const Product product = product_of(memory, call, pointers);
  const auto choice = algorithm == nullptr ? AlgorithmChoice::cublas : AlgorithmChoice::caller;
  return recorder->serve({product, pointers, stream, choice, algorithm, &call, handle != nullptr},
                         call, key);
}

}  // namespace

// A call that is known is handed on by a jump, which leaves the arguments where they are.
extern "C" Status cublasLtMatmul(lt::Handle handle, Operation operation, const void* alpha,
                                 const void* a, Layout a_layout, const void* b, Layout b_layout,
                                 const void* beta, const void* c, Layout c_layout, void* d,
                                 Layout d_layout, const lt::Algorithm* algorithm, void* workspace,
                                 size_t workspace_bytes, CUstream stream) {
  fetch_entry_point();
  fetch_code_of_matmul();
  const auto real = GEMMTUNE_REAL(cublasLtMatmul);
  auto* const function = real.function();
  if (function == nullptr) return Status::not_supported;
  bool at_once = real.found().for_cublas;
  uint64_t key = HandedOn::kNoKey;
  Recorder* const recorder = Recorder::current();
  if (!at_once && recorder != nullptr) {
    key = key_of_call(recorder->extent_of(real.found().function), handle, operation, a, a_layout, b,
                      b_layout, beta, c, c_layout, d, d_layout, workspace_bytes);
    at_once = Recorder::counts_handed_on(key);
  }
  if (at_once) [[likely]] {
    return function(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d,
                    d_layout, algorithm, workspace, workspace_bytes, stream);
  }
  return serve_unknown(key, function, handle, operation, alpha, a, a_layout, b, b_layout, beta, c,
                       c_layout, d, d_layout, algorithm, workspace, workspace_bytes, stream);
}

}  // namespace gemmtune::cublas_preload
