#pragma once

#include <nvrtc.h>

#include "core/error.h"

namespace gemmtune::jit {

// The functions of an opened NVRTC. Owns the dlopen handles.
struct NvrtcApi {
  void* library = nullptr;
  void* builtins = nullptr;

  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) get_num_supported_archs = nullptr;
  decltype(&nvrtcGetSupportedArchs) get_supported_archs = nullptr;
  decltype(&nvrtcGetErrorString) get_error_string = nullptr;
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcCompileProgram) compile_program = nullptr;
  decltype(&nvrtcGetProgramLogSize) get_program_log_size = nullptr;
  decltype(&nvrtcGetProgramLog) get_program_log = nullptr;
  decltype(&nvrtcGetPTXSize) get_ptx_size = nullptr;
  decltype(&nvrtcGetPTX) get_ptx = nullptr;
  decltype(&nvrtcGetCUBINSize) get_cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) get_cubin = nullptr;

  NvrtcApi() = default;
  NvrtcApi(const NvrtcApi&) = delete;
  NvrtcApi& operator=(const NvrtcApi&) = delete;
  ~NvrtcApi();
};

}  // namespace gemmtune::jit
