#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {

uint64_t key_of_blas_call(Recorder& recorder, const void* function, uint64_t numbers,
                          vendor::blas::Handle handle, uintptr_t addresses, const void* beta,
                          vendor::blas::ElementType scalars) {
  const HandleSettings* const settings = recorder.handles.find(function);
  HandleSettings::Modes modes;
  if (settings == nullptr || !settings->read(handle, modes)) return HandedOn::kNoKey;
  const bool on_host = modes.pointer == vendor::blas::PointerMode::host;
  const uint64_t hash = mixed(numbers, reinterpret_cast<uintptr_t>(handle),
                              static_cast<uint64_t>(modes.math) << 1 | (on_host ? 1U : 0U));
  return mixed(hash, operand_bits(addresses, beta_of(beta, scalars, on_host)));
}

}  // namespace gemmtune::cublas_preload
