#include "app/common/environment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../../scoped_variables.h"

namespace gemmtune::app {

TEST_CASE("flags before environment before default, for the database") {
  Environment environment;
  Places places;
  CHECK_FALSE(database_location(environment, places));
  environment.data_home = "/home/me/.local/share";
  auto found = database_location(environment, places);
  REQUIRE(found);
  CHECK(found->path == "/home/me/.local/share/gemm-tune/tuned.db");
  CHECK(found->is_default);
  environment.db = "/var/e.db";
  found = database_location(environment, places);
  CHECK(found->path == "/var/e.db");
  CHECK_FALSE(found->is_default);
  places.db = "f.db";
  found = database_location(environment, places);
  CHECK(found->path == "f.db");
  CHECK_FALSE(found->is_default);
}

TEST_CASE("flags before environment before default, for the cache") {
  Environment environment;
  Places places;
  CHECK_FALSE(cache_directory(environment, places));
  environment.cache_home = "/home/me/.cache";
  CHECK(cache_directory(environment, places) == "/home/me/.cache/gemm-tune");
  environment.cache_dir = "/var/cache";
  CHECK(cache_directory(environment, places) == "/var/cache");
  places.cache_dir = "c";
  CHECK(cache_directory(environment, places) == "c");
  places.no_cache = true;
  CHECK_FALSE(cache_directory(environment, places));
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

}  // namespace gemmtune::app
