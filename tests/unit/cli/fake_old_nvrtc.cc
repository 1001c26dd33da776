// An NVRTC as CUDA 11.4 had it, to be refused for newer archs: it loads, tells its version and
// archs, and compiles nothing.
#include <nvrtc.h>

#include <algorithm>
#include <array>

namespace {
constexpr std::array<int, 4> kArchs = {52, 75, 80, 86};
}  // namespace

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 11;
  *minor = 4;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(kArchs.size());
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  std::copy(kArchs.begin(), kArchs.end(), archs);
  return NVRTC_SUCCESS;
}
const char* nvrtcGetErrorString(nvrtcResult /*result*/) {
  return "fake";
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* /*program*/, const char* /*text*/,
                               const char* /*name*/, int /*count*/, const char* const* /*headers*/,
                               const char* const* /*names*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* /*program*/) {
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram /*program*/, int /*count*/,
                                const char* const* /*options*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram /*program*/, size_t* /*size*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram /*program*/, char* /*log*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram /*program*/, size_t* /*size*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram /*program*/, char* /*ptx*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram /*program*/, size_t* /*size*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram /*program*/, char* /*cubin*/) {
  return NVRTC_ERROR_INTERNAL_ERROR;
}
