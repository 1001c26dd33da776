// The built binary killed, interrupted, and twice at once.
#include <doctest/doctest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "process.h"
#include "store/record_store.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

// Hundreds of points, so that a tune can be caught in the middle.
constexpr const char* kSpace = R"({"strategy": "double_buffer", "about": "for tests", "values": {
  "tile_m": [32, 64, 128], "tile_n": [32, 64, 128], "tile_k": [8, 16], "warp_m": [32, 64],
  "warp_n": [32, 64], "thread_m": [4, 8], "thread_n": [4, 8], "lanes": [0, 1],
  "order": [0, 1, 2], "copy": [0], "fragments": [1, 2], "min_blocks": [0], "raster": [1]}})";

struct Workplace {
  TestFolder folder;
  std::string space = folder.write("space.json", kSpace);
  std::string db = folder.file("tuned.db");
  Variables variables = compiler_variables();

  Workplace() {
    variables["GEMM_TUNE_DB"] = db;
    variables["GEMM_TUNE_CACHE_DIR"] = folder.file("cache");
  }
  Arguments tune(int candidates) const {
    return {"--shape", "256x256x256", "--arch",       "sm_80",
            "--space", space,         "--candidates", std::to_string(candidates),
            "--jobs",  "1",           "--json"};
  }
  // The candidates of the only job, by their config; 0 while there is no database.
  std::vector<store::Record> records() const {
    store::StoreOptions options;
    options.path = db;
    options.read_only = true;
    auto store = store::open_store(options);
    if (!store) return {};
    Problem problem = make_problem({256, 256, 256});
    auto candidates = (*store)->candidates(problem, {});
    return candidates ? *candidates : std::vector<store::Record>{};
  }
  void check_store() const {
    store::StoreOptions options;
    options.path = db;
    auto store = store::open_store(options);
    REQUIRE(store);
    CHECK((*store)->check());
  }
};

}  // namespace

TEST_CASE("kill -9 loses nothing that was finished, and the next run goes on") {
  require_compiler();
  const Workplace place;
  Process first(place.folder, place.tune(14), place.variables);
  REQUIRE(wait_for([&] { return place.records().size() >= 4 || !first.running(); }));
  first.signal(SIGKILL);
  CHECK(first.wait().code == -SIGKILL);
  place.check_store();
  const auto before = place.records();
  REQUIRE(before.size() >= 4);
  REQUIRE(before.size() < 14);
  std::map<int64_t, std::string> stamps;
  for (const store::Record& record : before) stamps[record.id] = record.updated_at;

  const Finished second = run(place.folder, place.tune(14), place.variables);
  CAPTURE(second.err);
  REQUIRE(second.code == 0);
  const json result = json::parse(second.out)["results"][0];
  CHECK(result["resumed"] == before.size());
  // Candidates that the killed process had claimed stay claimed for a while, so fewer may be left.
  CHECK(result["resumed"].get<size_t>() + result["evaluated"].get<size_t>() <= 14);
  CHECK(result["evaluated"] > 0);
  // Nothing that was done was done again, but for the finalists.
  size_t touched = 0;
  for (const store::Record& record : place.records()) {
    const auto known = stamps.find(record.id);
    if (known != stamps.end() && known->second != record.updated_at) ++touched;
  }
  CHECK(touched <= 6);
}

TEST_CASE("ctrl-C ends with what was found so far, and the next run goes on") {
  require_compiler();
  const Workplace place;
  Process process(place.folder, place.tune(200), place.variables);
  REQUIRE(wait_for([&] { return place.records().size() >= 3 || !process.running(); }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  const json tuned = json::parse(finished.out);
  CHECK(tuned["interrupted"] == true);
  const json& result = tuned["results"][0];
  CHECK(result["interrupted"] == true);
  CHECK(result["evaluated"] >= 3);
  CHECK(result["evaluated"] < 200);
  CHECK(!result["ranking"].empty());
  CHECK(place.records().size() == result["evaluated"]);

  const int more = result["evaluated"].get<int>() + 2;
  const Finished next = run(place.folder, place.tune(more), place.variables);
  REQUIRE(next.code == 0);
  const json resumed = json::parse(next.out)["results"][0];
  CHECK(resumed["resumed"] == result["evaluated"]);
  CHECK(resumed["evaluated"] == 2);
}

TEST_CASE("a second signal ends the process at once") {
  require_compiler();
  const Workplace place;
  Process process(place.folder, place.tune(200), place.variables);
  REQUIRE(wait_for([&] { return place.records().size() >= 2 || !process.running(); }));
  process.signal(SIGTERM);
  process.signal(SIGTERM);
  const Finished finished = process.wait();
  // Both may arrive as one if the first is still pending.
  CHECK((finished.code == -SIGTERM || finished.code == 0));
  place.check_store();
}

TEST_CASE("two processes share one job and lose nothing") {
  require_compiler();
  const Workplace place;
  Process one(place.folder, place.tune(10), place.variables);
  Process two(place.folder, place.tune(10), place.variables);
  const Finished first = one.wait();
  const Finished second = two.wait();
  CAPTURE(first.err);
  CAPTURE(second.err);
  REQUIRE(first.code == 0);
  REQUIRE(second.code == 0);
  const json a = json::parse(first.out)["results"][0];
  const json b = json::parse(second.out)["results"][0];
  const auto records = place.records();
  // Every candidate that either evaluated is there once, and none was tried by both.
  CHECK(a["evaluated"].get<size_t>() > 0);
  CHECK(b["evaluated"].get<size_t>() > 0);
  CHECK(a["evaluated"].get<size_t>() + b["evaluated"].get<size_t>() == records.size());
  place.check_store();
}

}  // namespace gemmtune::cli_test
