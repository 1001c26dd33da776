#include "app/common/environment.h"

#include <cstdlib>
#include <sstream>
#include <system_error>

#include "vendor/cublaslt.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// An XDG base folder. The specification says that a relative path is to be ignored.
std::string base_folder(const char* name, const char* below_home) {
  std::string value = variable(name);
  if (!value.empty() && value.front() == '/') return value;
  const std::string home = variable("HOME");
  return home.empty() ? "" : (fs::path(home) / below_home).string();
}

// Folders of CUDA: named, bundled, and the usual one.
std::vector<std::string> cuda_homes(const Environment& environment) {
  std::vector<std::string> homes = environment.cuda_homes;
  if (!environment.executable.empty()) {
    const auto bundled = jit::bundled_cuda_homes(environment.executable);
    homes.insert(homes.end(), bundled.begin(), bundled.end());
  }
  homes.emplace_back("/usr/local/cuda");
  return homes;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  environment.db = variable("GEMM_TUNE_DB");
  environment.cache_dir = variable("GEMM_TUNE_CACHE_DIR");
  environment.nvrtc = variable("GEMM_TUNE_NVRTC");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = variable(name); !home.empty())
      environment.cuda_homes.push_back(home);
  }
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty()) environment.path.push_back(folder);
  }
  environment.data_home = base_folder("XDG_DATA_HOME", ".local/share");
  environment.cache_home = base_folder("XDG_CACHE_HOME", ".cache");
  std::error_code ignored;
  environment.executable = fs::read_symlink("/proc/self/exe", ignored);
  return environment;
}

Expected<DatabaseLocation> database_location(const Environment& environment, const Places& places) {
  if (!places.db.empty()) return DatabaseLocation{places.db, false};
  if (!environment.db.empty()) return DatabaseLocation{environment.db, false};
  if (environment.data_home.empty()) {
    return usage_error("no place for the database: HOME is not set; give --db FILE");
  }
  return DatabaseLocation{fs::path(environment.data_home) / "gemm-tune" / "tuned.db", true};
}

std::optional<fs::path> cache_directory(const Environment& environment, const Places& places) {
  if (places.no_cache) return std::nullopt;
  if (!places.cache_dir.empty()) return places.cache_dir;
  if (!environment.cache_dir.empty()) return environment.cache_dir;
  if (environment.cache_home.empty()) return std::nullopt;
  return fs::path(environment.cache_home) / "gemm-tune";
}

jit::NvrtcLocations nvrtc_locations(const Environment& environment) {
  jit::NvrtcLocations locations;
  locations.library = environment.nvrtc;
  locations.cuda_homes = environment.cuda_homes;
  if (!environment.executable.empty())
    locations.bundled = jit::bundled_cuda_homes(environment.executable);
  return locations;
}

std::vector<fs::path> program_folders(const Environment& environment) {
  std::vector<fs::path> folders;
  for (const std::string& home : cuda_homes(environment)) folders.push_back(fs::path(home) / "bin");
  folders.insert(folders.end(), environment.path.begin(), environment.path.end());
  return folders;
}

std::vector<std::string> cublaslt_names(const Environment& environment) {
  const std::vector<std::string> names = vendor::CublasLtLibrary::default_names();
  std::vector<std::string> candidates = names;
  for (const std::string& home : cuda_homes(environment)) {
    for (const char* folder : {"lib64", "lib"}) {
      for (const std::string& name : names)
        candidates.push_back((fs::path(home) / folder / name).string());
    }
  }
  return candidates;
}

}  // namespace gemmtune::app
