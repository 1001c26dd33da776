#include "cublas_preload/own/run_driver.h"

#include "cublas_preload/loaded_driver.h"

namespace gemmtune::cublas_preload {

RunDriver RunDriver::loaded() {
  RunDriver driver;
  void* const library = loaded_driver();
  if (library == nullptr) return {};
  const bool complete =
      resolve(library, "cuCtxGetCurrent", driver.ctx_get_current) &&
      resolve(library, "cuCtxGetId", driver.ctx_get_id) &&
      resolve(library, "cuStreamIsCapturing", driver.stream_is_capturing) &&
      resolve(library, "cuStreamGetId", driver.stream_get_id) &&
      resolve(library, "cuStreamGetCaptureInfo_v2", driver.stream_get_capture) &&
      resolve(library, "cuThreadExchangeStreamCaptureMode", driver.exchange_capture_mode) &&
      resolve(library, "cuMemAlloc_v2", driver.mem_alloc) &&
      resolve(library, "cuCtxGetDevice", driver.ctx_get_device) &&
      resolve(library, "cuDeviceTotalMem_v2", driver.device_total_mem);
  return complete ? driver : RunDriver{};
}

size_t RunDriver::device_bytes() const {
  CUdevice device = 0;
  size_t bytes = 0;
  if (ctx_get_device(&device) != CUDA_SUCCESS || device_total_mem(&bytes, device) != CUDA_SUCCESS)
    return 0;
  return bytes;
}

Capture RunDriver::capture_of(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream_is_capturing(stream, &status) != CUDA_SUCCESS) return Capture::unknown;
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return Capture::no;
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? Capture::yes : Capture::unknown;
}

}  // namespace gemmtune::cublas_preload
