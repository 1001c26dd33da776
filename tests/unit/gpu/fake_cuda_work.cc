// The fake driver: memory, streams, events and graphs.
// Symbols are spelled as libcuda exports them, whatever the header maps the plain names to.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fake_cuda_entry.h"

#undef cuEventElapsedTime

namespace {

using namespace gemmtune::fake_cuda;  // NOLINT(google-build-using-namespace)

std::byte* memory_at(CUdeviceptr address) {
  return as_handle<std::byte>(address);
}

// Notes a misuse unless the range lies in one live allocation.
bool check_range(State& s, CUdeviceptr address, size_t bytes) {
  for (const auto& [handle, object] : s.objects) {
    if (object.kind == "memory" && address >= handle && address + bytes <= handle + object.bytes) {
      return true;
    }
  }
  s.misuse("access outside device memory");
  return false;
}

CUresult allocate(State& s, const char* kind, size_t bytes, uintptr_t* address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (s.spoil_capture(true)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s.memory_used() + bytes > s.memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  Object object;
  object.bytes = bytes;
  // As aligned as the real one's.
  constexpr size_t kAlign = 256;
  auto* const memory = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  object.memory = std::shared_ptr<std::byte[]>(static_cast<std::byte*>(memory), &std::free);
  *address = s.add(kind, std::move(object));
  return CUDA_SUCCESS;
}

CUstreamCaptureStatus capture_status(const StreamState& stream) {
  if (!stream.capturing) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return entry_inside("cuMemAlloc_v2", [&](State& s) {
    uintptr_t start = 0;
    const CUresult code = allocate(s, "memory", bytes, &start);
    *address = start;
    return code;
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return entry_inside("cuMemFree_v2", [&](State& s) {
    if (s.spoil_capture(true)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return s.remove("memory", address);
  });
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  return entry_inside("cuMemHostAlloc", [&](State& s) {
    uintptr_t start = 0;
    const CUresult code = allocate(s, "pinned", bytes, &start);
    *address = as_handle<void>(start);
    return code;
  });
}

CUresult cuMemFreeHost(void* address) {
  return entry_inside("cuMemFreeHost", [&](State& s) { return s.remove("pinned", key(address)); });
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return entry_inside("cuMemGetInfo_v2", [&](State& s) {
    *total_bytes = s.memory_bytes;
    *free_bytes = s.memory_bytes - s.memory_used();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes,
                              CUstream stream) {
  return entry_inside("cuMemcpyHtoDAsync_v2", [&](State& s) {
    return s.enqueue(stream, [&s, target, source, bytes] {
      if (check_range(s, target, bytes)) std::memcpy(memory_at(target), source, bytes);
    });
  });
}

CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return entry_inside("cuMemcpyDtoHAsync_v2", [&](State& s) {
    return s.enqueue(stream, [&s, target, source, bytes] {
      if (check_range(s, source, bytes)) std::memcpy(target, memory_at(source), bytes);
    });
  });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return entry_inside("cuMemcpyDtoDAsync_v2", [&](State& s) {
    return s.enqueue(stream, [&s, target, source, bytes] {
      if (!check_range(s, source, bytes) || !check_range(s, target, bytes)) return;
      std::memcpy(memory_at(target), memory_at(source), bytes);
    });
  });
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return entry_inside("cuMemsetD8Async", [&](State& s) {
    return s.enqueue(stream, [&s, target, value, count] {
      if (check_range(s, target, count)) std::memset(memory_at(target), value, count);
    });
  });
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return entry_inside("cuMemsetD32Async", [&](State& s) {
    return s.enqueue(stream, [&s, target, value, count] {
      if (!check_range(s, target, 4 * count)) return;
      for (size_t i = 0; i < count; ++i) std::memcpy(memory_at(target) + 4 * i, &value, 4);
    });
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return entry_inside("cuStreamCreate", [&](State& s) {
    *stream = as_handle<std::remove_pointer_t<CUstream>>(s.add("stream"));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return entry_inside("cuStreamDestroy_v2",
                      [&](State& s) { return s.remove("stream", key(stream)); });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return entry_inside("cuStreamSynchronize", [&](State& s) {
    if (s.find("stream", key(stream)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return s.spoil_capture() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return entry_inside("cuStreamQuery", [&](State& s) {
    if (s.find("stream", key(stream)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return s.spoil_capture(true) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) {
  return entry_inside("cuStreamWaitEvent", [](State&) { return CUDA_SUCCESS; });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  return entry_inside("cuStreamBeginCapture_v2", [&](State& s) {
    Object* object = s.find("stream", key(stream));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (object->stream.capturing) return CUDA_ERROR_ILLEGAL_STATE;
    object->stream = {};
    object->stream.capturing = true;
    ++s.captures;
    object->stream.capturing_thread = std::this_thread::get_id();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return entry_inside("cuStreamEndCapture", [&](State& s) {
    *graph = nullptr;
    Object* object = s.find("stream", key(stream));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!object->stream.capturing) return CUDA_ERROR_ILLEGAL_STATE;
    const StreamState capture = std::exchange(object->stream, {});
    if (capture.capturing_thread != std::this_thread::get_id()) {
      return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Object made;
    made.operations = capture.recorded;
    *graph = as_handle<std::remove_pointer_t<CUgraph>>(s.add("graph", std::move(made)));
    return CUDA_SUCCESS;
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return entry("cuThreadExchangeStreamCaptureMode", [&](State& s) {
    std::swap(*mode, s.capture_mode());
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return entry_inside("cuStreamIsCapturing", [&](State& s) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream == nullptr) return CUDA_SUCCESS;
    const Object* object = s.find("stream", key(stream));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *status = capture_status(object->stream);
    return CUDA_SUCCESS;
  });
}

// As the driver, which ends the capture of a stream that is asked for its id.
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return entry_inside("cuStreamGetId", [&](State& s) {
    Object* const object = stream == nullptr ? nullptr : s.find("stream", key(stream));
    if (stream != nullptr && object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (object != nullptr && object->stream.capturing) {
      object->stream.invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    *id = key(stream);
    return CUDA_SUCCESS;
  });
}

// The number of captures so far: one at a time has another one each.
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph*, const CUgraphNode**, size_t*) {
  return entry_inside("cuStreamGetCaptureInfo_v2", [&](State& s) {
    const Object* object = stream == nullptr ? nullptr : s.find("stream", key(stream));
    *status = object == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE : capture_status(object->stream);
    *id = *status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? s.captures : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  return entry_inside("cuEventCreate", [&](State& s) {
    *event = as_handle<std::remove_pointer_t<CUevent>>(s.add("event"));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return entry_inside("cuEventDestroy_v2", [&](State& s) { return s.remove("event", key(event)); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return entry_inside("cuEventRecord", [&](State& s) {
    if (s.find("event", key(event)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (s.find("stream", key(stream)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    s.find("event", key(event))->recorded_us = s.now_us;
    return CUDA_SUCCESS;
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return entry_inside("cuEventSynchronize", [&](State& s) {
    if (s.find("event", key(event)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return s.spoil_capture(true) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent event) {
  return entry_inside("cuEventQuery", [&](State& s) {
    if (s.find("event", key(event)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return s.spoil_capture(true) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
  });
}

// NOLINTNEXTLINE(readability-identifier-naming): libcuda's name
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return entry_inside("cuEventElapsedTime", [&](State& s) {
    const Object* first = s.find("event", key(begin));
    const Object* last = s.find("event", key(end));
    if (first == nullptr || last == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!first->recorded_us || !last->recorded_us) return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = static_cast<float>((*last->recorded_us - *first->recorded_us) / 1000.0);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode*, size_t* count) {
  return entry_inside("cuGraphGetNodes", [&](State& s) {
    const Object* object = s.find("graph", key(graph));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *count = object->operations.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return entry_inside("cuGraphDestroy", [&](State& s) { return s.remove("graph", key(graph)); });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  return entry_inside("cuGraphInstantiateWithFlags", [&](State& s) {
    const Object* object = s.find("graph", key(graph));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Object made;
    made.operations = object->operations;
    *exec = as_handle<std::remove_pointer_t<CUgraphExec>>(s.add("graph exec", std::move(made)));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream) {
  return entry_inside("cuGraphUpload", [&](State& s) {
    return s.find("graph exec", key(exec)) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return entry_inside("cuGraphLaunch", [&](State& s) {
    const Object* object = s.find("graph exec", key(exec));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    s.now_us += 10 + s.next_graph_delay_us();
    for (const Operation& operation : object->operations) {
      if (const CUresult code = s.enqueue(stream, operation); code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return entry_inside("cuGraphExecDestroy",
                      [&](State& s) { return s.remove("graph exec", key(exec)); });
}

}  // extern "C"
