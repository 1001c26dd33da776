#include "codegen/search_space.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

namespace gemmtune::codegen {
namespace {

// A valid double_buffer space, one value a parameter.
std::string space_with(const std::string& tile_m) {
  return R"({"strategy": "double_buffer", "values": {"tile_m": )" + tile_m +
         R"(, "tile_n": [64], "tile_k": [8], "warp_m": [32], "warp_n": [32], "thread_m": [8], "thread_n": [4],
            "lanes": [0, 1], "order": [0], "copy": [0], "fragments": [1],
            "min_blocks": [0], "raster": [1]}})";
}

std::string error_of(const std::string& text) {
  const auto space = parse_search_space(text, "my.json");
  REQUIRE_FALSE(space);
  CHECK(space.error().kind == ErrorKind::usage);
  return space.error().message;
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST_CASE("a space holds its points and no others") {
  const auto space = *parse_search_space(
      R"({"strategy": "naive", "values": {"tile_m": [8, 16], "tile_n": [32]}})", "my.json");
  for (int64_t i = 0; i < space.size(); ++i) CHECK(space.holds(space.at(i)));
  TileConfig tile = space.at(0);
  tile.tile_m = 32;
  CHECK_FALSE(space.holds(tile));
  tile = space.at(0);
  tile.stages = 2;  // not a parameter of it
  CHECK_FALSE(space.holds(tile));
}

TEST_CASE("a space enumerates its whole product") {
  const auto space = parse_search_space(space_with("[64, 128, 256]"), "my.json");
  REQUIRE(space);
  CHECK(space->size() == 6);
  std::set<std::string> tiles;
  for (int64_t i = 0; i < space->size(); ++i) tiles.insert(to_string(space->at(i)));
  CHECK(tiles.size() == 6);
}

std::set<std::string> spelled(const std::vector<TileConfig>& tiles) {
  std::set<std::string> all;
  for (const TileConfig& tile : tiles) all.insert(to_string(tile));
  return all;
}

TEST_CASE("a sample of a small space is all legal points, or as many as are wanted") {
  const auto space = *default_search_space(**find_strategy("naive"));
  const Problem problem = make_problem({256, 256, 256});
  const DeviceSpec device = representative_device({8, 0, false});
  const auto legal = enumerate(space, problem, device).legal;
  std::mt19937_64 random(1);
  CHECK(spelled(sample_legal(space, problem, device, legal.size() + 1, random)) == spelled(legal));
  CHECK(sample_legal(space, problem, device, 2, random).size() == 2);
}

TEST_CASE("a sample of a large space is different legal points, others with another seed") {
  const auto space = *default_search_space(**find_strategy("sliced_k"));
  const Problem problem = make_problem({256, 256, 256});
  const DeviceSpec device = representative_device({9, 0, false});
  std::mt19937_64 random(1);
  const auto tiles = sample_legal(space, problem, device, 500, random);
  CHECK(tiles.size() == 500);
  CHECK(spelled(tiles).size() == 500);
  for (const TileConfig& tile : tiles) {
    CHECK(space.holds(tile));
    CHECK(broken_rule(spec_for(*space.strategy, tile, problem, device.arch), device) == nullptr);
  }
  CHECK(spelled(sample_legal(space, problem, device, 500, random)) != spelled(tiles));
}

TEST_CASE("errors name the file and the key") {
  CHECK(says(error_of(space_with("[]")), "my.json: key 'values.tile_m' is an empty list"));
  CHECK(says(error_of(space_with("64")), "my.json: key 'values.tile_m' must be a list"));
  CHECK(says(error_of(space_with("[\"64\"]")), "my.json: key 'values.tile_m' holds \"64\""));
  CHECK(says(error_of(space_with("[64.5]")), "holds 64.5"));
  CHECK(says(error_of(space_with("[-1]")), "holds -1"));
  CHECK(says(error_of(space_with("[64, 64]")), "twice"));
  CHECK(says(error_of(R"({"strategy": "double_buffer", "values": {"tile_q": [1]}})"),
             "key 'values': unknown parameter 'tile_q'; did you mean 'tile_m'"));
  CHECK(says(error_of(R"({"strategy": "double_buffer", "values": {"tile_m": [1]}})"),
             "'values.tile_n' is missing"));
  CHECK(says(error_of(R"({"strategy": "dubble", "values": {}})"), "unknown strategy 'dubble'"));
  CHECK(says(error_of(R"({"strategy": "double_buffer", "valeus": {}})"), "did you mean 'values'"));
  CHECK(says(error_of("[1]"), "must hold a JSON object"));
  CHECK(says(error_of("{"), "my.json:1:1: the file ends here"));
  CHECK(says(error_of(R"({"values": {}})"), "key 'strategy'"));
}

TEST_CASE("a missing file is a usage error") {
  const auto space = load_search_space("/nonexistent/space.json");
  REQUIRE_FALSE(space);
  CHECK(space.error().kind == ErrorKind::usage);
}

}  // namespace
}  // namespace gemmtune::codegen
