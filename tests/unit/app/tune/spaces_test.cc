// Which strategies a tune searches.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/common/target.h"
#include "app/tune/spaces.h"

namespace gemmtune::app {
namespace {

// Two space files in a folder of their own.
struct SpaceFiles {
  std::filesystem::path folder;
  std::string double_buffer;

  SpaceFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "gemm-tune-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder = name;
    double_buffer = (folder / "double_buffer.json").string();
    std::ofstream(double_buffer) << R"({"strategy": "double_buffer", "about": "", "values": {
      "tile_m": [64], "tile_n": [64], "tile_k": [8], "warp_m": [32], "warp_n": [32],
      "thread_m": [4], "thread_n": [8], "lanes": [0], "order": [0], "copy": [0], "fragments": [1],
      "min_blocks": [0], "raster": [1]}})";
  }
  ~SpaceFiles() { std::filesystem::remove_all(folder); }
};

}  // namespace

TEST_CASE("all strategies, unless some are named") {
  CHECK(choose_spaces({}, {})->size() == codegen::strategies().size());
  const auto two = choose_spaces({"multistage", "double_buffer", "multistage"}, {});
  REQUIRE(two);
  REQUIRE(two->size() == 2);
  CHECK((*two)[0].strategy->name() == "multistage");
  CHECK_FALSE(choose_spaces({"nothing"}, {}));
}

TEST_CASE("a space file stands in for its strategy's own space") {
  const SpaceFiles files;
  const auto alone = choose_spaces({}, {files.double_buffer});
  REQUIRE(alone);
  REQUIRE(alone->size() == 1);
  CHECK((*alone)[0].size() == 1);
  const auto with = choose_spaces({"multistage", "double_buffer"}, {files.double_buffer});
  REQUIRE(with);
  REQUIRE(with->size() == 2);
  CHECK((*with)[0].size() > 1);
  CHECK((*with)[1].size() == 1);
  const auto contradiction = choose_spaces({"multistage"}, {files.double_buffer});
  REQUIRE_FALSE(contradiction);
  CHECK(contradiction.error().kind == ErrorKind::usage);
}

TEST_CASE("spaces that hold no tile to try are told apart, with the reason") {
  Target target;
  target.arch = {8, 0, false};
  target.limits = representative_device(target.arch);
  const auto spaces = choose_spaces({"split_k", "double_buffer"}, {});
  REQUIRE(spaces);
  const auto deep = supported_spaces(make_problem({64, 64, 64}), *spaces, target);
  REQUIRE(deep);
  CHECK(deep->spaces.size() == 2);
  const auto shallow = supported_spaces(make_problem({64, 64, 1}), *spaces, target);
  REQUIRE(shallow);
  REQUIRE(shallow->spaces.size() == 1);
  CHECK(shallow->spaces[0].strategy->name() == "double_buffer");
  REQUIRE(shallow->refusals.size() == 1);
  CHECK(shallow->refusals[0].reason.find("do not suit these sizes") != std::string::npos);
}

}  // namespace gemmtune::app
