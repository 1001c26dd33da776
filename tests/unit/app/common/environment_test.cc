#include "app/common/environment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace gemmtune::cli {
namespace {

// Sets variables for the life of the object; an empty value unsets.
class ScopedVariables {
 public:
  explicit ScopedVariables(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      const char* old = std::getenv(name.c_str());
      old_[name] = old == nullptr ? "" : old;
      set(name, value);
    }
  }
  ~ScopedVariables() {
    for (const auto& [name, value] : old_) set(name, value);
  }
  ScopedVariables(const ScopedVariables&) = delete;
  ScopedVariables& operator=(const ScopedVariables&) = delete;

 private:
  static void set(const std::string& name, const std::string& value) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  std::map<std::string, std::string> old_;
};

}  // namespace

TEST_CASE("flags before environment before default, for the database") {
  Environment environment;
  CommonOptions options;
  CHECK_FALSE(database_location(environment, options));
  environment.data_home = "/home/me/.local/share";
  auto found = database_location(environment, options);
  REQUIRE(found);
  CHECK(found->path == "/home/me/.local/share/gemm-tune/tuned.db");
  CHECK(found->is_default);
  environment.db = "/var/e.db";
  found = database_location(environment, options);
  CHECK(found->path == "/var/e.db");
  CHECK_FALSE(found->is_default);
  options.db = "f.db";
  found = database_location(environment, options);
  CHECK(found->path == "f.db");
  CHECK_FALSE(found->is_default);
}

TEST_CASE("flags before environment before default, for the cache") {
  Environment environment;
  CommonOptions options;
  CHECK_FALSE(cache_directory(environment, options));
  environment.cache_home = "/home/me/.cache";
  CHECK(cache_directory(environment, options) == "/home/me/.cache/gemm-tune");
  environment.cache_dir = "/var/cache";
  CHECK(cache_directory(environment, options) == "/var/cache");
  options.cache_dir = "c";
  CHECK(cache_directory(environment, options) == "c");
  options.no_cache = true;
  CHECK_FALSE(cache_directory(environment, options));
}

TEST_CASE("XDG folders: absolute ones count, else those below HOME") {
  {
    const ScopedVariables set(
        {{"HOME", "/h"}, {"XDG_DATA_HOME", "/d"}, {"XDG_CACHE_HOME", "relative"}});
    const Environment environment = read_environment();
    CHECK(environment.data_home == "/d");
    CHECK(environment.cache_home == "/h/.cache");
    CHECK(environment.executable.is_absolute());
  }
  const ScopedVariables set({{"HOME", ""}, {"XDG_DATA_HOME", ""}, {"XDG_CACHE_HOME", ""}});
  const Environment environment = read_environment();
  CHECK(environment.data_home.empty());
  CHECK(environment.cache_home.empty());
}

TEST_CASE("who wants no escape sequences") {
  const auto plain = [](const char* no_color, const char* term) {
    const ScopedVariables set({{"NO_COLOR", no_color}, {"TERM", term}});
    return read_environment().plain_terminal;
  };
  CHECK_FALSE(plain("", "xterm"));
  CHECK_FALSE(plain("", ""));
  CHECK(plain("1", "xterm"));
  CHECK(plain("", "dumb"));
}

TEST_CASE("CUDA's folders reach NVRTC and cuBLASLt") {
  const ScopedVariables set({{"GEMM_TUNE_NVRTC", "/n"}, {"CUDA_HOME", "/a"}, {"CUDA_PATH", "/b"}});
  const Environment environment = read_environment();
  const jit::NvrtcLocations locations = nvrtc_locations(environment);
  CHECK(locations.library == "/n");
  CHECK(locations.cuda_homes == std::vector<std::string>{"/a", "/b"});
  const auto names = cublaslt_names(environment);
  // The loader's own search comes first: it finds what the driver's machine is set up for.
  CHECK(names.front().find('/') == std::string::npos);
  CHECK(std::find(names.begin(), names.end(), "/a/lib64/libcublasLt.so.13") != names.end());
  CHECK(std::find(names.begin(), names.end(), "/b/lib/libcublasLt.so.12") != names.end());
}

}  // namespace gemmtune::cli
