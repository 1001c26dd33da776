#pragma once

#include <cuda.h>

#include <cstdint>

namespace gemmtune::cublas_preload {

// Whether a stream is under capture.
enum class Capture { no, yes, unknown };

// What running own kernels uses of the CUDA driver beside what the dispatcher does.
struct RunDriver {
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  CUresult (*ctx_get_id)(CUcontext, unsigned long long*) = nullptr;
  decltype(&::cuStreamIsCapturing) stream_is_capturing = nullptr;
  CUresult (*stream_get_id)(CUstream, unsigned long long*) = nullptr;
  CUresult (*stream_get_capture)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                 const CUgraphNode**, size_t*) = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  CUresult (*mem_alloc)(CUdeviceptr*, size_t) = nullptr;
  decltype(&::cuCtxGetDevice) ctx_get_device = nullptr;
  CUresult (*device_total_mem)(size_t*, CUdevice) = nullptr;

  // The driver that the process has loaded; nothing where it has none, or one before CUDA 12.
  static RunDriver loaded();
  bool usable() const { return mem_alloc != nullptr; }

  // The bytes of the current context's GPU; 0: it does not say.
  size_t device_bytes() const;

  // `unknown` also where a capture elsewhere forbids to use the stream.
  Capture capture_of(CUstream stream) const;
};

}  // namespace gemmtune::cublas_preload
