#pragma once

#include <cstdio>
#include <cstdlib>

#include "jit/nvrtc.h"

namespace gemmtune::jit {

// This machine's NVRTC; ends the process as "skipped" where there is none.
inline const Nvrtc& real_nvrtc() {
  static const Nvrtc kNvrtc = [] {
    NvrtcLocations locations;
    const auto from_environment = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    locations.library = from_environment("GEMM_TUNE_NVRTC");
    locations.cuda_homes = {from_environment("CUDA_HOME"), from_environment("CUDA_PATH")};
    locations.bundled = {std::string(GEMMTUNE_SOURCE_DIR) + "/.deps/cuda"};
    auto loaded = Nvrtc::load(nvrtc_candidates(locations));
    if (!loaded) {
      std::fprintf(stderr, "skipped: %s\n", loaded.error().message.c_str());
      std::exit(77);
    }
    return *std::move(loaded);
  }();
  return kNvrtc;
}

}  // namespace gemmtune::jit
