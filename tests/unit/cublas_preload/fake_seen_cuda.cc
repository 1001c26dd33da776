// As much of a CUDA driver as takes the times of calls: an event happens as it is recorded, half a
// millisecond after the one before it.
#include <cuda.h>

#include <atomic>

#undef cuEventElapsedTime  // newer headers mean a later version

namespace {

constexpr float kMsPerEvent = 0.5F;

struct Event {
  std::atomic<int> number = 0;
};

std::atomic<int>& events() {
  static std::atomic<int> recorded = 0;
  return recorded;
}

std::atomic<bool>& capturing() {
  static std::atomic<bool> active = false;
  return active;
}

}  // namespace

extern "C" {

void gemmtune_fake_capture(bool active) {
  capturing() = active;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(&events());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext, unsigned long long* id) {
  *id = 1;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = capturing() ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream, unsigned long long* id) {
  if (capturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  *id = 1;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph*, const CUgraphNode**, size_t*) {
  *id = 1;
  return cuStreamIsCapturing(nullptr, status);
}

CUresult cuMemAlloc_v2(CUdeviceptr*, size_t) {
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventCreate(CUevent* event, unsigned int) {
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream) {
  if (capturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  reinterpret_cast<Event*>(event)->number = ++events();
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent) {
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* ms, CUevent first, CUevent second) {
  const int events_between =
      reinterpret_cast<Event*>(second)->number - reinterpret_cast<Event*>(first)->number;
  *ms = kMsPerEvent * static_cast<float>(events_between);
  return CUDA_SUCCESS;
}

}  // extern "C"
