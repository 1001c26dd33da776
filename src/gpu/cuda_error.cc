#include "gpu/cuda_error.h"

#include <cuda.h>

namespace gemmtune::gpu {

bool CudaError::context_lost() const {
  switch (code) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_UNKNOWN:
    // Which headers of CUDA 12 lack:
    case 226:  // CUDA_ERROR_CONTAINED
    case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
    case 911:  // CUDA_ERROR_EXTERNAL_DEVICE
      return true;
    default:
      return false;
  }
}

bool CudaError::out_of_memory() const {
  return code == CUDA_ERROR_OUT_OF_MEMORY;
}

}  // namespace gemmtune::gpu
