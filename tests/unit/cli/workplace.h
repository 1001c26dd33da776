#pragma once

// Where processes tune one problem: a folder with a database, a cache and a search space.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "process.h"
#include "store/record_store.h"

namespace gemmtune::cli_test {

// Hundreds of points, so that a tune can be caught in the middle.
inline constexpr const char* kLargeSpace =
    R"({"strategy": "double_buffer", "about": "for tests", "values": {
  "tile_m": [32, 64, 128], "tile_n": [32, 64, 128], "tile_k": [8, 16], "warp_m": [32, 64],
  "warp_n": [32, 64], "thread_m": [4, 8], "thread_n": [4, 8], "lanes": [0, 1],
  "order": [0, 1, 2], "copy": [0], "fragments": [1, 2], "min_blocks": [0], "raster": [1]}})";

struct Workplace {
  TestFolder folder;
  std::string space;
  std::string db = folder.file("tuned.db");
  Variables variables = compiler_variables();

  explicit Workplace(const char* space_text = kLargeSpace)
      : space(folder.write("space.json", space_text)) {
    variables["GEMM_TUNE_DB"] = db;
    variables["GEMM_TUNE_CACHE_DIR"] = folder.file("cache");
  }
  Arguments tune(int candidates) const {
    return {"--shape", "256x256x256", "--arch",       "sm_80",
            "--space", space,         "--candidates", std::to_string(candidates),
            "--jobs",  "1",           "--json"};
  }
  std::unique_ptr<store::RecordStore> open(bool read_only = true) const {
    store::StoreOptions options;
    options.path = db;
    options.read_only = read_only;
    auto store = store::open_store(options);
    return store ? std::move(*store) : nullptr;
  }
  // The candidates of the only job; none while there is no database.
  std::vector<store::Record> records() const {
    const auto store = open();
    auto candidates = store ? store->candidates(make_problem({256, 256, 256}), {})
                            : Expected<std::vector<store::Record>>{};
    return candidates ? *std::move(candidates) : std::vector<store::Record>{};
  }
  int64_t claims() const {
    const auto store = open();
    const auto info = store ? store->info() : Expected<store::StoreInfo>{};
    return info ? info->claims : 0;
  }
  void check_store() const {
    const auto store = open(false);
    REQUIRE(store);
    CHECK(store->check());
  }
};

}  // namespace gemmtune::cli_test
