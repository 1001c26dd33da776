#include "dispatch/winner.h"

#include <doctest/doctest.h>

#include "dispatch/reading_c.h"
#include "dispatch/snapshot_source.h"
#include "library_fixture.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::Tuned;

Problem problem(int m = 24) {
  return make_problem({m, 24, 24});
}

// With as many SMs as the fake device.
Device another_model() {
  Device device = dispatch_test::fake_device();
  device.uuid = "GPU-other";
  device.name = "another";
  return device;
}

// A database with some results, and what may be chosen on the fake device.
struct Database : dispatch_test::Library {
  Snapshot snapshot;
  Target target;

  explicit Database(const std::vector<Tuned>& results,
                    const std::vector<Device>& devices = {dispatch_test::fake_device()}) {
    write_database(folder.file("tuned.db"), results, devices);
    snapshot = read_database(folder.file("tuned.db"), dispatch_test::fake_device()).value();
    target.arch = dispatch_test::kArch;
    target.limits = device_limits(dispatch_test::fake_device(), dispatch_test::kArch);
    target.max_workspace_bytes = 1 << 20;
  }

  static Request request_for(const Problem& wanted, int align_bytes, bool reads_c) {
    Request request;
    request.problem = comparable(wanted);
    request.problem.align_bytes = align_bytes;
    request.reads_c = reads_c;
    return request;
  }
  Outcome<std::vector<Winner>> find_all(const Problem& wanted) const {
    return winners(snapshot, request_for(wanted, kUsualAlignBytes, false), target);
  }
  Outcome<Winner> find(const Problem& wanted, int align_bytes = kUsualAlignBytes,
                       bool reads_c = false) const {
    return dispatch_test::winner(snapshot, request_for(wanted, align_bytes, reads_c), target);
  }
  Outcome<Winner> find_reading_c(const Problem& wanted) const {
    return find(wanted, kUsualAlignBytes, true);
  }
  std::string why_none(const Problem& wanted) const {
    const auto found = find(wanted);
    return found ? "" : found.error().message;
  }
};

TEST_CASE("a kernel that beat the vendor wins, on the problem itself or with other pointers") {
  const Database database({dispatch_test::won_by_kernel(problem())});
  const auto found = database.find(problem());
  REQUIRE(found.has_value());
  CHECK(found->own_us == 10);
  CHECK(found->vendor_us == 17);
  const auto narrower = database.find(problem(), 16);
  REQUIRE(narrower.has_value());
  CHECK(narrower->choice.neighbour->align_bytes == 256);
  CHECK(database.why_none(problem(25)) == "not tuned");
}

TEST_CASE("what lost, or was never compared, does not") {
  Tuned lost = dispatch_test::won_by_kernel(problem(8));
  lost.vendor_us = 5;
  Tuned alone = dispatch_test::won_by_kernel(problem(16));
  alone.vendor.reset();
  Tuned vendor_only = dispatch_test::won_by_kernel(problem(32));
  vendor_only.kernel.reset();
  const Database database({lost, alone, vendor_only});
  CHECK(database.why_none(problem(8)) == "cuBLASLt is faster");
  CHECK(database.why_none(problem(16)) == "never compared with cuBLASLt");
  CHECK(database.why_none(problem(32)) == "no own kernel was measured");
  CHECK_FALSE(database.find(problem(8), 16));
  CHECK_FALSE(database.find(problem(16), 16));
}

TEST_CASE("a kernel that is hardly ahead takes nobody's place") {
  Tuned level = dispatch_test::won_by_kernel(problem(8));
  level.vendor_us = 10.09;
  Tuned ahead = dispatch_test::won_by_kernel(problem(16));
  ahead.vendor_us = 10.11;
  const Database database({level, ahead});
  CHECK(database.why_none(problem(8)) == "cuBLASLt is as fast");
  CHECK_FALSE(database.find(problem(8), 16));
  CHECK(database.find(problem(16)).has_value());
}

// Own kernel, cuBLASLt's fastest algorithm and its heuristic's first one, in us.
Tuned timed(int m, double own_us, double best_us, double first_us) {
  Tuned tuned = dispatch_test::won_by_kernel(problem(m));
  tuned.time_us = own_us;
  tuned.vendor_us = best_us;
  tuned.first_us = first_us;
  return tuned;
}

TEST_CASE("what beats the heuristic's first algorithm wins where no kernel beats them all") {
  using Route = Choice::Route;
  const Database database({timed(8, 10.5, 10, 12), timed(16, 10, 10.05, 12),
                           timed(32, 11.9, 10, 12), timed(40, 10, 11, 12)});
  const auto found = database.find_all(problem(8));
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 2);
  CHECK(found->at(0).choice.route == Route::vendor_algorithm);
  CHECK(found->at(0).choice.vendor_config == dispatch_test::vendor_config(1));
  CHECK(found->at(0).own_us == 10);
  CHECK(found->at(0).vendor_us == 12);
  CHECK(found->at(1).choice.route == Route::kernel);
  CHECK(found->at(1).own_us == 10.5);
  const auto level = database.find_all(problem(16));
  REQUIRE(level.has_value());
  REQUIRE(level->size() == 2);
  CHECK(level->at(0).choice.route == Route::kernel);
  CHECK(database.find(problem(32))->choice.route == Route::vendor_algorithm);
  const auto ahead = database.find(problem(40));
  REQUIRE(ahead.has_value());
  CHECK(ahead->vendor_us == 11);
}

TEST_CASE("an algorithm that is hardly ahead of the first one takes nobody's place") {
  const Database database({timed(8, 12, 10, 10.05), timed(16, 12, 10, 10.15)});
  CHECK(database.why_none(problem(8)) == "cuBLASLt is faster");
  CHECK(database.find(problem(16)).has_value());
  CHECK_FALSE(database.find(problem(16), 16));  // of other pointers it was not measured
}

TEST_CASE("a kernel that ran at another card's power limit has to be further ahead of it, too") {
  dispatch_test::Row row{dispatch_test::kTwin, 200, 201};  // 687 TFLOP/s, of 989
  row.problem = "bf16/f32/ieee/tnt/4096x4096x4096";
  row.strategy = "wgmma_tma";
  row.config = "tile_m=128 tile_n=256 tile_k=64 stages=4 raster=8 consumers=2";
  row.first_us = 207;
  const auto routes = [&] {
    const Snapshot snapshot = dispatch_test::snapshot_of({row});
    std::vector<Choice::Route> found;
    const auto all =
        winners(snapshot, dispatch_test::request_for(row.problem), dispatch_test::target());
    for (const Winner& winner : all.value_or(std::vector<Winner>()))
      found.push_back(winner.choice.route);
    return found;
  };
  using Route = Choice::Route;
  CHECK(routes() == std::vector{Route::vendor_algorithm});
  row.first_us = 209;
  CHECK(routes() == std::vector{Route::vendor_algorithm, Route::kernel});
  row.uuid = dispatch_test::kHere;
  row.first_us = 203;
  CHECK(routes() == std::vector{Route::kernel});
}

TEST_CASE("an algorithm takes no place where C is read, which was not measured") {
  const Database database({timed(8, 12, 10, 11), timed(16, 10.5, 10, 12)});
  CHECK(database.find(problem(8)).has_value());
  CHECK(database.find_reading_c(problem(8)).error().message == "cuBLASLt is faster");
  CHECK(database.find_reading_c(problem(16))->choice.route == Choice::Route::kernel);
}

TEST_CASE("a kernel is level with cuBLASLt's fastest algorithm, unless that is 1% ahead") {
  const Database database(
      {timed(8, 10, 10, 10), timed(16, 10.05, 10, 10), timed(32, 10.2, 10, 10)});
  const auto level = [&](int m, bool reads_c = false) {
    return level_kernels(database.snapshot,
                         Database::request_for(problem(m), kUsualAlignBytes, reads_c),
                         database.target);
  };
  CHECK_FALSE(database.find(problem(8)).has_value());
  for (const int m : {8, 16}) {
    const auto found = level(m);
    REQUIRE(found.has_value());
    CHECK(found->front().choice.route == Choice::Route::kernel);
    CHECK(found->front().vendor_us == 10);
  }
  CHECK(level(32).error().message == "cuBLASLt is faster");
  CHECK_FALSE(level(16, true).has_value());  // 0.2 us more
  CHECK(level(64).error().message == "not tuned");
}

TEST_CASE("where C is read, a kernel has to be further ahead") {
  Tuned close = dispatch_test::won_by_kernel(problem(8));
  close.vendor_us = 10.2;  // 0.2 us more
  Tuned ahead = dispatch_test::won_by_kernel(problem(16));
  ahead.vendor_us = 10.4;
  Tuned lost = dispatch_test::won_by_kernel(problem(32));
  lost.vendor_us = 9;
  const Database database({close, ahead, lost});
  CHECK(database.find(problem(8)).has_value());
  const auto reading = database.find_reading_c(problem(8));
  REQUIRE_FALSE(reading.has_value());
  CHECK(reading.error().message == "not ahead by enough where C is read");
  CHECK(database.find_reading_c(problem(16)).has_value());
  CHECK(database.find_reading_c(problem(32)).error().message == "cuBLASLt is faster");
  CHECK(database.find_reading_c(problem(64)).error().message == "not tuned");
}

TEST_CASE("a kernel of another model has to be further ahead, too, where C is read") {
  const Device device = another_model();
  Tuned tuned = dispatch_test::won_by_kernel(problem());
  tuned.device_uuid = device.uuid;
  CHECK(Database({tuned}, {device}).find_reading_c(problem()).has_value());
  tuned.vendor_us = 10.9;
  CHECK(Database({tuned}, {device}).find(problem()).has_value());
  CHECK_FALSE(Database({tuned}, {device}).find_reading_c(problem()).has_value());
}

TEST_CASE("what reading C may cost grows with C, and most where its rows are odd") {
  Problem p = make_problem({1000, 1000, 64}, DataType::bf16);
  CHECK(most_for_reading_c_us(p) == doctest::Approx(0.2 + 0.35 * 2));
  p.batch = 10;
  pack(p);
  CHECK(most_for_reading_c_us(p) == doctest::Approx(0.2 + 0.35 * 20));
  CHECK(most_for_reading_c_us(make_problem({1000, 1000, 64})) == doctest::Approx(0.2 + 0.35 * 4));
  Problem odd = make_problem({1000, 1001, 64}, DataType::bf16);
  CHECK(most_for_reading_c_us(odd) == doctest::Approx(0.2 + 0.7 * 2.002));
  Problem shifted = make_problem({1000, 1000, 64}, DataType::bf16);
  shifted.align_bytes = 8;
  CHECK(most_for_reading_c_us(shifted) == doctest::Approx(0.2 + 0.7 * 2));
}

TEST_CASE("a kernel that was timed with early starts has to be 1 us further ahead") {
  Tuned behind = dispatch_test::won_by_kernel(problem(8));
  behind.vendor_us = 10.9;
  Tuned level = dispatch_test::won_by_kernel(problem(16));
  level.vendor_us = 11.1;
  Tuned ahead = dispatch_test::won_by_kernel(problem(32));
  ahead.vendor_us = 11.2;
  for (Tuned* const tuned : {&behind, &level, &ahead}) tuned->started_early = true;
  const Database database({behind, level, ahead});
  CHECK(database.why_none(problem(8)) == "cuBLASLt is faster");
  CHECK(database.why_none(problem(16)) == "cuBLASLt is as fast");
  CHECK(database.find(problem(32)).has_value());
}

TEST_CASE("results of another model with as many SMs count if they are far ahead") {
  const Device device = another_model();
  Tuned tuned = dispatch_test::won_by_kernel(problem());
  tuned.device_uuid = device.uuid;
  const auto found = Database({tuned}, {device}).find(problem());
  REQUIRE(found.has_value());
  CHECK(found->own_us == 10);
  CHECK(found->vendor_us == doctest::Approx(17));
  tuned.vendor_us = 10.7;
  CHECK(Database({tuned}, {device}).why_none(problem()) == "not tuned");
}

TEST_CASE("results of another model count no more where the vendor has no such product") {
  const Device device = another_model();
  Tuned tuned = dispatch_test::won_by_kernel(problem());
  tuned.device_uuid = device.uuid;
  tuned.vendor_us = 5;
  Database lost({tuned}, {device});
  tuned.vendor.reset();
  Database alone({tuned}, {device});
  for (Database* database : {&lost, &alone}) {
    database->target.vendor = false;
    CHECK(database->why_none(problem()) == "not tuned");
  }
}

TEST_CASE("results of another model do not count, those of another device of this model do") {
  Device device = dispatch_test::fake_device();
  device.uuid = "GPU-other";
  Tuned tuned = dispatch_test::won_by_kernel(problem());
  tuned.device_uuid = device.uuid;
  CHECK(Database({tuned}, {device}).find(problem()).has_value());
  device.name = "another";
  ++device.sm_count;
  CHECK(Database({tuned}, {device}).why_none(problem()) == "not tuned");
}

TEST_CASE("a kernel that may not be used here is named with why") {
  Tuned tuned = dispatch_test::won_by_kernel(make_problem({64, 64, 512}));
  tuned.kernel = dispatch_test::workspace_kernel(tuned.problem);
  Database database({tuned});
  CHECK(database.find(tuned.problem).has_value());
  database.target.max_workspace_bytes = 16;
  CHECK(database.why_none(tuned.problem).find("its kernel needs a workspace of ") == 0);
}

}  // namespace
}  // namespace gemmtune::dispatch
