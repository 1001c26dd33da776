// The fake driver: devices, contexts, modules and kernels.
// Symbols are spelled as libcuda exports them, whatever the header maps the plain names to.
#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "fake_cuda_entry.h"

namespace {

using namespace gemmtune::fake_cuda;  // NOLINT(google-build-using-namespace)

// The parameters at these addresses, one behind the other.
std::vector<std::byte> read_parameters(void** parameters, const std::vector<size_t>& bytes) {
  std::vector<std::byte> arguments;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(parameters[i]);
    arguments.insert(arguments.end(), from, from + bytes[i]);
  }
  return arguments;
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
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      launch.overlaps_previous = attribute.value.programmaticStreamSerializationAllowed != 0;
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = attribute.value.clusterDim;
    launch.cluster = {cluster.x, cluster.y, cluster.z};
  }
  return launch;
}

// The words of an image. Of real machine code, an ELF file, the bytes that are part of names.
std::string text_of(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  if (std::strncmp(text, "\177ELF", 4) != 0) return text;
  if (text[4] != ELFCLASS64) return text + 4;  // not a real one
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const size_t sections = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  const size_t segments = header.e_phoff + size_t{header.e_phnum} * header.e_phentsize;
  std::string words(text, std::max(sections, segments));
  for (char& letter : words) {
    const bool in_name = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
    if (!in_name) letter = ' ';
  }
  return words;
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
  return entry("cuDeviceGetName", [&](State& s) {
    const auto index = static_cast<size_t>(device);
    const std::string known =
        index < s.names.size() ? s.names[index] : "Fake GPU " + std::to_string(device);
    std::snprintf(name, static_cast<size_t>(size), "%s", known.c_str());
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
      case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        *value = CU_COMPUTEMODE_DEFAULT;
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

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  return entry("cuDevicePrimaryCtxGetState", [&](State& s) {
    *flags = 0;
    *active = s.devices.at(static_cast<size_t>(ordinal)).context != 0 ? 1 : 0;
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

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return entry("cuCtxGetId", [&](State& s) {
    if (s.device_of_context(key(context)) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *id = key(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* ordinal) {
  return entry("cuCtxGetDevice", [&](State& s) {
    DeviceState* device = nullptr;
    if (const CUresult code = s.current(&device); code != CUDA_SUCCESS) return code;
    *ordinal = static_cast<CUdevice>(device - s.devices.data());
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
    if (s.spoil_capture(true)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const std::string words = text_of(image);
    const char* const text = words.c_str();
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
    object.image = words;
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

// As the driver packs nothing that is known of: the address and the extents, as they were given.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank,
                                void* address, const cuuint64_t* extents, const cuuint64_t*,
                                const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  return entry("cuTensorMapEncodeTiled", [&](State&) {
    if (rank > 5 || reinterpret_cast<uintptr_t>(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    *map = {};
    std::memcpy(map->opaque, &address, sizeof(address));
    std::memcpy(map->opaque + 1, extents, rank * sizeof(*extents));
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
    const bool unknown = params != nullptr && (extra != nullptr || s.parameter_bytes.empty());
    if (unknown || threads == 0 || threads > 1024 ||
        static_cast<int>(launch.dynamic_smem_bytes) > found->second.max_dynamic_smem_bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (params != nullptr) launch.arguments = read_parameters(params, s.parameter_bytes);
    if (const CUresult code = read_arguments(extra, launch.arguments); code != CUDA_SUCCESS) {
      return code;
    }
    return s.enqueue(config->hStream, [&s, launch] { s.run_kernel(launch); });
  });
}

}  // extern "C"
