#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "jit/nvrtc.h"

namespace gemmtune::app {

// What the process environment says about files and libraries.
struct Environment {
  std::string db;                       // GEMM_TUNE_DB
  std::string cache_dir;                // GEMM_TUNE_CACHE_DIR
  std::string nvrtc;                    // GEMM_TUNE_NVRTC: a library or its folder
  std::vector<std::string> cuda_homes;  // CUDA_HOME, CUDA_PATH
  std::string data_home;                // XDG_DATA_HOME, else $HOME/.local/share; may be empty
  std::string cache_home;               // XDG_CACHE_HOME, else $HOME/.cache; may be empty
  std::vector<std::string> path;        // PATH
  std::filesystem::path executable;     // of this process
};

Environment read_environment();

// Where a request wants files to be; empty: as the environment says.
struct Places {
  std::string db;         // --db
  std::string cache_dir;  // --cache-dir
  bool no_cache = false;
};

struct DatabaseLocation {
  std::filesystem::path path;
  bool is_default = false;  // then its folders may be made
};

// Flags before environment before default. An error says which variable would help.
Expected<DatabaseLocation> database_location(const Environment& environment, const Places& places);

// Nothing with --no-cache, or where there is no place for one.
std::optional<std::filesystem::path> cache_directory(const Environment& environment,
                                                     const Places& places);

// Folders of programs, in the order to search: those of CUDA first.
std::vector<std::filesystem::path> program_folders(const Environment& environment);

jit::NvrtcLocations nvrtc_locations(const Environment& environment);

// File names to try for cuBLASLt: the loader's own search first, then the CUDA folders that NVRTC
// is looked for in.
std::vector<std::string> cublaslt_names(const Environment& environment);

}  // namespace gemmtune::app
