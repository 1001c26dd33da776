#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arch.h"
#include "core/error.h"

namespace gemmtune::jit {

struct NvrtcVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const NvrtcVersion&) const = default;  // NOLINT(modernize-use-nullptr): false
};

// "13.0".
std::string to_string(NvrtcVersion version);

// Where to look for NVRTC. The caller fills it from the environment, the configuration and the
// place of the executable; nothing below this reads the environment.
struct NvrtcLocations {
  std::string library;  // GEMM_TUNE_NVRTC: a library or its folder. If set, the only
                        // place that is looked at
  std::vector<std::string> cuda_homes;  // CUDA_HOME, CUDA_PATH: toolkit folders
  std::vector<std::string> bundled;     // folders that hold include/ and lib/, as tools/setup makes
  bool system = true;                   // /usr/local/cuda and the loader's own search
};

// For NvrtcLocations::bundled: the folders called cuda or .deps/cuda, or those of NVIDIA's Python
// packages, next to the executable or up to four folders above it that exist, nearest first.
// tools/setup makes .deps/cuda in a source tree; a release archive may carry cuda.
std::vector<std::string> bundled_cuda_homes(const std::filesystem::path& executable);

// The names to try with dlopen, in order: newest major version first in each place.
std::vector<std::string> nvrtc_candidates(const NvrtcLocations& locations);

struct NvrtcApi;  // the function pointers; nvrtc_api.h

// NVRTC, opened at run time. A cheap handle: copies share the library. Thread-safe: every member is
// const and NVRTC compiles separate programs concurrently.
class Nvrtc {
 public:
  // Opens the first candidate that is an NVRTC of version 11.2 or newer (older ones cannot emit
  // machine code). The error says what was tried and why each failed, in one line.
  static Expected<Nvrtc> load(std::span<const std::string> candidates);

  NvrtcVersion version() const { return version_; }
  const std::filesystem::path& path() const { return path_; }

  // Size of the library file: tells the patch releases of one version apart, as NVRTC itself does
  // not.
  uint64_t library_bytes() const { return library_bytes_; }

  // ErrorKind::unsupported if this NVRTC cannot compile for `arch`: names the arch, this version,
  // and the versions that can.
  Expected<void> check_arch(Arch arch) const;

  // The folder with cuda_fp16.h that belongs to this library; empty if there is none (kernels that
  // only use f32 need none).
  const std::filesystem::path& include_dir() const { return include_dir_; }

  const NvrtcApi& api() const { return *api_; }

 private:
  Nvrtc() = default;

  std::shared_ptr<const NvrtcApi> api_;  // owns the library
  NvrtcVersion version_;
  std::filesystem::path path_;
  uint64_t library_bytes_ = 0;
  std::vector<int> archs_;
  std::filesystem::path include_dir_;
};

// The NVRTC versions that compile for an arch, e.g. "NVRTC 11.0 to 12.9" or "NVRTC 12.0 or newer".
// Empty for an arch that is not in the table. Source: release notes of the CUDA toolkits.
std::string nvrtc_versions_for(Arch arch);

}  // namespace gemmtune::jit
