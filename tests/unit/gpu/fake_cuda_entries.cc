// The driver's entry points over the state of fake_cuda_state.h. Symbols are spelled as libcuda
// exports them, whatever the header maps the plain names to.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "fake_cuda_state.h"

#undef cuEventElapsedTime

namespace {

using namespace gemmtune::fake_cuda;  // NOLINT(google-build-using-namespace)

// Every entry point: lock, log, injected failure, body.
template <class Body>
CUresult entry(const char* symbol, Body&& body) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (const auto code = s.arrive(symbol)) return *code;
  if (!s.initialised && std::strcmp(symbol, "cuInit") != 0) return CUDA_ERROR_NOT_INITIALIZED;
  return body(s);
}

// One that needs a usable context to be current.
template <class Body>
CUresult entry_inside(const char* symbol, Body&& body) {
  return entry(symbol, [&](State& s) {
    DeviceState* device = nullptr;
    const CUresult code = s.current(&device);
    return code == CUDA_SUCCESS ? body(s) : code;
  });
}

template <class T>
uintptr_t key(T* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}
template <class T>
T* as_handle(uintptr_t value) {
  return reinterpret_cast<T*>(value);  // NOLINT(performance-no-int-to-ptr)
}
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
  if (s.spoil_capture()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s.memory_used() + bytes > s.memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  Object object;
  object.bytes = bytes;
  object.memory = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  *address = s.add(kind, std::move(object));
  return CUDA_SUCCESS;
}

CUresult read_arguments(void** extra, std::vector<std::byte>& arguments) {
  if (extra == nullptr) return CUDA_SUCCESS;
  const void* data = nullptr;
  size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) data = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t*>(extra[1]);
  }
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  arguments.resize(bytes);
  std::memcpy(arguments.data(), data, bytes);
  return CUDA_SUCCESS;
}

Launch describe(const CUlaunchConfig& config, const std::string& kernel) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.dynamic_smem_bytes = config.sharedMemBytes;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = config.attrs[i].value.clusterDim;
    launch.cluster = {cluster.x, cluster.y, cluster.z};
  }
  return launch;
}

bool contains_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  return entry("cuInit", [](State& s) {
    if (s.devices.empty()) return CUDA_ERROR_NO_DEVICE;
    s.initialised = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return entry("cuDriverGetVersion", [&](State& s) {
    *version = s.version;
    return CUDA_SUCCESS;
  });
}

// Error texts take no lock: they are asked for while other calls are checked.
CUresult cuGetErrorName(CUresult code, const char** text) {
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      return CUDA_SUCCESS;
    case CUDA_ERROR_NO_DEVICE:
      *text = "CUDA_ERROR_NO_DEVICE";
      return CUDA_SUCCESS;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return CUDA_SUCCESS;
    default:
      *text = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuGetErrorString(CUresult code, const char** text) {
  *text = code == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int* count) {
  return entry("cuDeviceGetCount", [&](State& s) {
    *count = static_cast<int>(s.devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return entry("cuDeviceGet", [&](State& s) {
    if (ordinal < 0 || ordinal >= static_cast<int>(s.devices.size())) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  return entry("cuDeviceGetName", [&](State&) {
    std::snprintf(name, static_cast<size_t>(size), "Fake GPU %d", device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return entry("cuDeviceGetUuid_v2", [&](State&) {
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(0x17 * i + device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  return entry("cuDeviceTotalMem_v2", [&](State& s) {
    *bytes = s.memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  return entry("cuDeviceGetAttribute", [&](State&) {
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = 50 << 20;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 227 * 1024;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1980000;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = 3201000;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  return entry("cuDevicePrimaryCtxRetain", [&](State& s) {
    DeviceState& device = s.devices.at(static_cast<size_t>(ordinal));
    // As the real one does, the same handle every time: only the state behind it is new.
    if (device.context == 0) device.context = 0x100 + static_cast<uintptr_t>(ordinal);
    ++device.references;
    *context = as_handle<std::remove_pointer_t<CUcontext>>(device.context);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return entry("cuDevicePrimaryCtxRelease_v2", [&](State& s) {
    DeviceState& device = s.devices.at(static_cast<size_t>(ordinal));
    if (device.references == 0) {
      s.misuse("a context released once too often");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--device.references > 0) return CUDA_SUCCESS;
    const bool leaked = std::any_of(s.objects.begin(), s.objects.end(), [&](const auto& object) {
      return object.second.context == device.context && device.context != 0;
    });
    if (leaked) s.misuse("a context released before its handles");
    s.drop_context(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return entry("cuDevicePrimaryCtxReset_v2", [&](State& s) {
    s.drop_context(s.devices.at(static_cast<size_t>(ordinal)));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return entry("cuCtxPushCurrent_v2", [&](State& s) {
    if (s.device_of_context(key(context)) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    s.stack().push_back(key(context));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return entry("cuCtxPopCurrent_v2", [&](State& s) {
    if (s.stack().empty()) {
      s.misuse("a pop without a push");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    *context = as_handle<std::remove_pointer_t<CUcontext>>(s.stack().back());
    s.stack().pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return entry("cuCtxGetCurrent", [&](State& s) {
    *context =
        s.stack().empty() ? nullptr : as_handle<std::remove_pointer_t<CUcontext>>(s.stack().back());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return entry_inside("cuCtxSynchronize", [](State& s) {
    return s.spoil_capture() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
  });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return entry_inside("cuModuleLoadDataEx", [&](State& s) {
    const auto* text = static_cast<const char*>(image);
    if (std::strncmp(text, "\177ELF", 4) == 0) text += 4;
    if (std::strcmp(text, "FOREIGN") == 0) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (std::strcmp(text, "BAD") == 0) {
      char* log = nullptr;
      size_t bytes = 0;
      for (unsigned i = 0; i < count; ++i) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log = static_cast<char*>(values[i]);
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) bytes = key(values[i]);
      }
      std::snprintf(log, bytes, "line 1: parse error\nline 2: and more");
      return CUDA_ERROR_INVALID_PTX;
    }
    Object object;
    object.image = text;
    *module = as_handle<std::remove_pointer_t<CUmodule>>(s.add("module", std::move(object)));
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return entry_inside("cuModuleUnload", [&](State& s) { return s.remove("module", key(module)); });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return entry_inside("cuModuleGetFunction", [&](State& s) {
    const Object* object = s.find("module", key(module));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!contains_word(object->image, name)) return CUDA_ERROR_NOT_FOUND;
    for (const auto& [handle, known] : s.functions) {
      if (known.module != key(module) || known.name != name) continue;
      *function = as_handle<std::remove_pointer_t<CUfunction>>(handle);
      return CUDA_SUCCESS;
    }
    const uintptr_t handle = 0x10000000 + 16 * s.functions.size();
    s.functions[handle] = {key(module), name};
    *function = as_handle<std::remove_pointer_t<CUfunction>>(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return entry_inside("cuFuncGetAttribute", [&](State& s) {
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 64;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 8;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = 2048;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = s.functions.at(key(function)).max_dynamic_smem_bytes;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return entry_inside("cuFuncSetAttribute", [&](State& s) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > 227 * 1024) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    s.functions.at(key(function)).max_dynamic_smem_bytes = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                     size_t smem) {
  return entry_inside("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&](State&) {
    *blocks = std::min(2048 / threads, static_cast<int>(233472 / (smem + 1024)));
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig* config) {
  return entry_inside("cuOccupancyMaxActiveClusters", [&](State&) {
    const auto cluster = describe(*config, "").cluster;
    *clusters = static_cast<int>(132 / (cluster[0] * cluster[1] * cluster[2]));
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void** extra) {
  return entry_inside("cuLaunchKernelEx", [&](State& s) {
    const auto found = s.functions.find(key(function));
    if (found == s.functions.end() || s.find("module", found->second.module) == nullptr) {
      s.misuse("launch of an unloaded kernel");
      return CUDA_ERROR_INVALID_HANDLE;
    }
    Launch launch = describe(*config, found->second.name);
    const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
    if (params != nullptr || threads == 0 || threads > 1024 ||
        static_cast<int>(launch.dynamic_smem_bytes) > found->second.max_dynamic_smem_bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (const CUresult code = read_arguments(extra, launch.arguments); code != CUDA_SUCCESS) {
      return code;
    }
    return s.enqueue(config->hStream, [&s, launch] { s.run_kernel(launch); });
  });
}

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
    if (s.spoil_capture()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
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
    return s.find("stream", key(stream)) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
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

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return entry_inside("cuStreamIsCapturing", [&](State& s) {
    const Object* object = s.find("stream", key(stream));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *status =
        object->stream.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
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
    return s.find("event", key(event)) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent event) {
  return entry_inside("cuEventQuery", [&](State& s) {
    return s.find("event", key(event)) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
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
