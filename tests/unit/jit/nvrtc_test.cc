#include "jit/nvrtc.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "../contains.h"
#include "jit/preferred_nvrtc.h"
#include "test_folder.h"

namespace gemmtune::jit {
namespace {

TEST_CASE("an explicit library is the only candidate") {
  NvrtcLocations locations;
  locations.library = "/opt/x/libnvrtc.so.12";
  locations.cuda_homes = {"/cuda"};
  CHECK(nvrtc_candidates(locations) == std::vector<std::string>{"/opt/x/libnvrtc.so.12"});
  const TestFolder folder;
  locations.library = folder.path().string();
  for (const std::string& candidate : nvrtc_candidates(locations))
    CHECK(candidate.starts_with(folder.path().string()));
}

TEST_CASE("toolkits before the system before bundled files before the loader's own search") {
  NvrtcLocations locations;
  locations.cuda_homes = {"", "/first"};
  locations.bundled = {"/bundled"};
  const auto all = nvrtc_candidates(locations);
  const auto at = [&](const std::string& name) {
    const auto found = std::find(all.begin(), all.end(), name);
    REQUIRE(found != all.end());
    return found - all.begin();
  };
  CHECK(all.front() == "/first/lib64/libnvrtc.so.13");
  CHECK(at("/first/lib64/libnvrtc.so.13") < at("/first/lib64/libnvrtc.so.12"));
  CHECK(at("/first/lib/libnvrtc.so") < at("/usr/local/cuda/lib64/libnvrtc.so.13"));
  CHECK(at("/usr/local/cuda/lib64/libnvrtc.so.13") < at("/bundled/lib/libnvrtc.so.13"));
  CHECK(at("/bundled/lib/libnvrtc.so.13") < at("libnvrtc.so.13"));
  locations.system = false;
  for (const std::string& candidate : nvrtc_candidates(locations)) CHECK(candidate[0] == '/');
  CHECK(std::none_of(all.begin(), all.end(), [](const auto& c) { return c.empty(); }));
}

TEST_CASE("bundled files are found from the executable upwards") {
  const TestFolder folder;
  const auto tree = folder.path() / "tree";
  const auto binary = tree / "build" / "release" / "bin" / "gemm-tune";
  std::filesystem::create_directories(tree / ".deps" / "cuda" / "lib");
  CHECK(bundled_cuda_homes(binary) == std::vector{(tree / ".deps/cuda").string()});
  std::filesystem::create_directories(binary.parent_path() / "cuda" / "lib");
  CHECK(bundled_cuda_homes(binary).front() == (binary.parent_path() / "cuda").string());
  CHECK(bundled_cuda_homes(binary).size() == 2);
  CHECK(bundled_cuda_homes("/").empty());
  // In a Python environment, beside NVIDIA's packages.
  const auto packages = folder.path() / "site-packages";
  std::filesystem::create_directories(packages / "nvidia" / "cu13" / "lib");
  CHECK(bundled_cuda_homes(packages / "gemmtune" / "_bin" / "gemm-tune") ==
        std::vector{(packages / "nvidia/cu13").string()});
}

TEST_CASE("the preferred NVRTC is the one that machines without any are given") {
  std::ifstream file(GEMMTUNE_SOURCE_DIR "/tools/cuda_wheels.py");
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  CHECK(contains(script, "nvidia-cuda-nvrtc==" + to_string(kPreferredNvrtc) + "."));
}

TEST_CASE("nothing found: the message says what to do") {
  const std::vector<std::string> nowhere = {"/nowhere/libnvrtc.so.13", "/nowhere/libnvrtc.so"};
  const auto missing = Nvrtc::load(nowhere);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(contains(missing.error().message, "GEMM_TUNE_NVRTC"));
  CHECK(contains(missing.error().message, "/nowhere/libnvrtc.so.13"));
  CHECK_FALSE(contains(missing.error().message, "\n"));
  CHECK_FALSE(Nvrtc::load({}));
}

TEST_CASE("a file that is no library, and a library that is not NVRTC") {
  const TestFolder folder;
  const std::string text = (folder.path() / "libnvrtc.so.13").string();
  std::ofstream(text) << "no library";
  const auto broken = Nvrtc::load(std::vector{text});
  REQUIRE_FALSE(broken);
  CHECK(broken.error().kind == ErrorKind::unsupported);
  CHECK(contains(broken.error().message, text));
  const auto other = Nvrtc::load(std::vector<std::string>{"libm.so.6"});
  REQUIRE_FALSE(other);
  CHECK(contains(other.error().message, "is not NVRTC"));
}

TEST_CASE("which versions serve an arch") {
  CHECK(nvrtc_versions_for({7, 0, false}) == "NVRTC 11.2 to 12.9");
  CHECK(nvrtc_versions_for({7, 5, false}) == "NVRTC 11.2 or newer");
  CHECK(nvrtc_versions_for({8, 9, false}) == "NVRTC 11.8 or newer");
  CHECK(nvrtc_versions_for({9, 0, true}) == "NVRTC 12.0 or newer");
  CHECK(nvrtc_versions_for({6, 5, false}).empty());
  for (const Arch arch : known_archs()) {
    CAPTURE(to_string(arch));
    CHECK_FALSE(nvrtc_versions_for(arch).empty());
  }
}

}  // namespace
}  // namespace gemmtune::jit
