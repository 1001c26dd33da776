#include "dispatch/row_bounds.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/winner.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

// In batches of TF32, whose times nobody estimates.
constexpr const char* kRows = "f32/f32/tf32/ttt/{}x512x512/batch=2";
constexpr const char* kTile =
    "tile_m=32 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=5 copy=1 fragments=1";

struct TunedRows {
  int m = 0;
  double kernel_us = 0;  // 0: none
  double vendor_us = 0;
  const char* config = kTile;
  const char* uuid = dispatch_test::kHere;
  const char* problem = kRows;  // with {} for m
  const char* strategy = "mma_multistage";
};

Snapshot snapshot_with(const std::vector<TunedRows>& tuned) {
  std::vector<dispatch_test::Row> rows;
  for (const TunedRows& one : tuned) {
    dispatch_test::Row row{one.uuid, one.kernel_us, one.vendor_us, one.config};
    row.problem = fmt::format(fmt::runtime(one.problem), one.m);
    row.strategy = one.strategy;
    rows.push_back(row);
  }
  return dispatch_test::snapshot_of(rows);
}

Request request_of_rows(int m, const char* problem = kRows) {
  return dispatch_test::request_for(fmt::format(fmt::runtime(problem), m));
}

// The rows of the problem whose kernel comes first; 0 where cuBLASLt does.
int64_t lender(const std::vector<TunedRows>& rows, const Request& request) {
  const Snapshot snapshot = snapshot_with(rows);
  const Choice first = decide(snapshot, request, dispatch_test::target()).choices.at(0);
  if (first.route != Choice::Route::kernel) return 0;
  return first.neighbour ? first.neighbour->shape.m : request.problem.shape.m;
}

int64_t lender(const std::vector<TunedRows>& rows, int m) {
  return lender(rows, request_of_rows(m));
}

const std::vector<TunedRows> kTuned = {{8, 10, 13}, {32, 12, 14}, {128, 20, 22}};

TEST_CASE("between two numbers of rows the kernel of more runs, if it beats cuBLASLt with fewer") {
  CHECK(lender(kTuned, 9) == 32);
  CHECK(lender(kTuned, 16) == 32);
  CHECK(lender(kTuned, 31) == 32);
  CHECK(lender(kTuned, 64) == 0);  // 20 us against 14
  // What was measured itself is what counts.
  CHECK(lender(kTuned, 32) == 32);
}

TEST_CASE("outside of what was measured, cuBLASLt runs") {
  CHECK(lender(kTuned, 7) == 0);
  CHECK(lender(kTuned, 129) == 0);
}

TEST_CASE("a kernel that is hardly ahead of the smaller of cuBLASLt's times lends nothing") {
  CHECK(lender({{8, 10, 12.25}, {32, 12, 14}}, 16) == 32);
  CHECK(lender({{8, 10, 12.23}, {32, 12, 14}}, 16) == 0);
  CHECK(lender({{8, 10, 14}, {32, 12, 12.25}}, 16) == 32);
  CHECK(lender({{8, 10, 14}, {32, 12, 12.23}}, 16) == 0);
}

TEST_CASE("both ends were compared with cuBLASLt, on devices of one model with as many SMs") {
  CHECK(lender({{8, 10, 0}, {32, 12, 14}}, 16) == 0);
  CHECK(lender({{8, 0, 13}, {32, 12, 14}}, 16) == 32);
  CHECK(lender({{8, 10, 13}, {32, 0, 14}}, 16) == 0);
  CHECK(lender({{8, 10, 13}, {32, 12, 0}}, 16) == 0);
  const auto measured_on = [](const char* uuid) {
    return std::vector<TunedRows>{{8, 10, 13, kTile, uuid}, {32, 12, 14, kTile, uuid}};
  };
  CHECK(lender(measured_on(dispatch_test::kTwin), 16) == 32);
  CHECK(lender(measured_on(dispatch_test::kSister), 16) == 32);
  CHECK(lender(measured_on(dispatch_test::kOther), 16) == 0);
  std::vector<TunedRows> mixed = measured_on(dispatch_test::kSister);
  mixed.front().uuid = dispatch_test::kHere;
  CHECK(lender(mixed, 16) == 0);
}

TEST_CASE("on another model the kernel of more rows has to be ahead by 8%") {
  constexpr auto kProblem = "f32/f32/tf32/ttt/{}x8192x8192/batch=2";
  const auto lender_of_rows = [&](double kernel_us) {
    return lender({{8, 10, 13, kTile, dispatch_test::kSister, kProblem},
                   {32, kernel_us, 14, kTile, dispatch_test::kSister, kProblem}},
                  request_of_rows(16, kProblem));
  };
  CHECK(lender_of_rows(13 / 1.09) == 32);
  CHECK(lender_of_rows(13 / 1.07) == 0);
}

TEST_CASE("problems that differ in more than their rows say nothing") {
  for (const char* other :
       {"f32/f32/tf32/ttt/{}x512x256/batch=2", "f32/f32/tf32/ttt/{}x256x512/batch=2",
        "f32/f32/tf32/tnt/{}x512x512/batch=2", "f32/f32/ieee/ttt/{}x512x512/batch=2",
        "f32/f32/tf32/ttt/{}x512x512/batch=2/align=16",
        "f32/f32/tf32/ttt/{}x512x512/batch=2/epilogue=relu", "bf16/f32/ieee/ttt/{}x512x512/batch=2",
        "f32/f32/tf32/ttt/{}x512x512"}) {
    CHECK_FALSE(find_row_bounds(snapshot_with(kTuned), request_of_rows(16, other).problem, false));
    // But for rows between those of a variant (variant_lead_test.cc).
    const bool of_variant = std::string(other).ends_with("relu");
    CHECK(lender(kTuned, request_of_rows(16, other)) == (of_variant ? 32 : 0));
  }
}

TEST_CASE("entries of a batch lie one behind the other whatever their rows") {
  const char* const batch = "f32/f32/tf32/ttt/{}x512x512/batch=4";
  std::vector<TunedRows> rows = kTuned;
  for (TunedRows& row : rows) row.problem = batch;
  CHECK(lender(rows, request_of_rows(16, batch)) == 32);
  CHECK(lender(rows, request_of_rows(16)) == 0);
  CHECK(lender(rows, request_of_rows(16, "f32/f32/tf32/ttt/{}x512x512/batch=5")) == 0);
  CHECK(lender(rows, request_of_rows(
                         16, "f32/f32/tf32/ttt/{}x512x512/batch=4/stride=65536,262144,65536")) ==
        0);
}

TEST_CASE("where rows of A do not lie one behind the other, their number changes what is legal") {
  std::vector<TunedRows> rows = kTuned;
  for (TunedRows& row : rows) row.problem = "f32/f32/tf32/ntt/{}x512x512";
  CHECK(lender(rows, request_of_rows(16, "f32/f32/tf32/ntt/{}x512x512")) == 0);
}

TEST_CASE("a kernel that may not run here lends nothing") {
  CHECK(lender({{8, 10, 13}, {32, 12, 14, "tile_m=7 tile_n=33"}}, 16) == 0);
}

// What such a kernel for `more` rows lends to `m`, if it is ahead by a sixth.
int64_t tma_lender(const char* strategy, const char* tile, int more, int m, bool reads_c = false,
                   const char* problem = "bf16/f32/ieee/tnt/{}x512x512") {
  Request request = request_of_rows(m, problem);
  request.reads_c = reads_c;
  return lender({{8, 10, 14, tile, dispatch_test::kHere, problem, strategy},
                 {more, 12, 14, tile, dispatch_test::kHere, problem, strategy}},
                request);
}

constexpr const char* kIntegers = "i8/i32/ieee/tnt/{}x512x512";

// For a program that gives cuBLASLt too little workspace.
TEST_CASE("integers run on a level kernel of the nearest rows, more before fewer") {
  constexpr const char* kTile = "tile_m=128 tile_n=32 tile_k=128 stages=4 consumers=2";
  const auto row = [&](int m, double own_us, double vendor_us,
                       const char* uuid = dispatch_test::kHere, const char* problem = kIntegers) {
    return TunedRows{m, own_us, vendor_us, kTile, uuid, problem, "wgmma_tma"};
  };
  const auto lender_of = [&](const std::vector<TunedRows>& tuned, int m,
                             const char* problem = kIntegers) -> int64_t {
    const Snapshot snapshot = snapshot_with(tuned);
    const auto found =
        level_kernels(snapshot, request_of_rows(m, problem), dispatch_test::target());
    if (!found) return 0;
    const auto& neighbour = found->front().choice.neighbour;
    return neighbour ? neighbour->shape.m : 0;
  };
  const std::vector<TunedRows> tuned = {row(1000, 10, 10), row(2000, 20, 20), row(4000, 40, 40)};
  CHECK(lender_of(tuned, 3000) == 4000);
  CHECK(lender_of(tuned, 2001) == 4000);
  CHECK(lender_of(tuned, 1999) == 2000);
  CHECK(lender_of(tuned, 500) == 1000);
  CHECK(lender_of(tuned, 499) == 0);
  CHECK(lender_of(tuned, 5000) == 4000);
  CHECK(lender_of(tuned, 8000) == 4000);
  CHECK(lender_of(tuned, 8001) == 0);
  // cuBLASLt's fastest algorithm is ahead there, but not to be had.
  CHECK(lender_of({row(1000, 10.2, 10)}, 900) == 1000);
  CHECK(lender_of({row(1000, 0, 10)}, 900) == 0);
  CHECK(lender_of({row(1000, 10, 10, dispatch_test::kTwin)}, 900) == 1000);
  CHECK(lender_of({row(1000, 10, 10, dispatch_test::kSister)}, 900) == 0);
  constexpr const char* kBytes = "e4m3/f32/fast_accum/tnt/{}x512x512";
  CHECK(lender_of({row(1000, 10, 10, dispatch_test::kHere, kBytes)}, 900, kBytes) == 0);
}

// 128 rows and 32 columns: a fifth of both is 32.
constexpr auto kLargeTile = "tile_m=128 tile_n=32 tile_k=64 stages=4 consumers=2";

TEST_CASE("a kernel of large tiles that TMA feeds lends to as many rows as nearly fill them") {
  for (const bool reads_c : {false, true}) {
    const auto at = [&](int more, int m) {
      return tma_lender("wgmma_tma", kLargeTile, more, m, reads_c);
    };
    CHECK(at(128, 127) == 128);
    CHECK(at(128, 96) == 128);
    CHECK(at(128, 95) == 0);
    CHECK(at(128, 16) == 0);
    CHECK(at(256, 128) == 256);
    // Of several tiles the last one ends with C, unless that is read.
    CHECK(at(256, 192) == (reads_c ? 0 : 256));
    CHECK(at(256, 129) == (reads_c ? 0 : 256));
    CHECK(at(256, 224) == 256);
  }
}

TEST_CASE("where more than a tenth of its tile is outside it has to be further ahead") {
  constexpr auto kProblem = "bf16/f32/ieee/tnt/{}x512x512";
  const auto lends = [&](double vendor_us, int m) {
    return lender({{8, 10, vendor_us, kLargeTile, dispatch_test::kHere, kProblem, "wgmma_tma"},
                   {128, 10, vendor_us, kLargeTile, dispatch_test::kHere, kProblem, "wgmma_tma"}},
                  request_of_rows(m, kProblem)) == 128;
  };
  CHECK(lends(10.3, 112));
  CHECK_FALSE(lends(10.3, 111));
  CHECK_FALSE(lends(11.2, 96));
  CHECK(lends(11.3, 96));
}

TEST_CASE("tiles that end with C come before those that stick out a little") {
  constexpr auto kProblem = "bf16/f32/ieee/tnt/{}x512x512";
  const Snapshot snapshot =
      snapshot_with({{128, 10, 13, kLargeTile, dispatch_test::kHere, kProblem, "wgmma_tma"},
                     {256, 12, 14, kLargeTile, dispatch_test::kHere, kProblem, "wgmma_tma"}});
  const auto edges = [&](int m) {
    std::vector<int> found;
    const Decision decision =
        decide(snapshot, request_of_rows(m, kProblem), dispatch_test::target());
    for (const Choice& choice : decision.choices) {
      if (choice.route == Choice::Route::kernel && choice.lead)
        found.push_back(choice.spec.tile.edge);
    }
    return found;
  };
  CHECK(edges(230) == std::vector{1, 0});
  CHECK(edges(192) == std::vector{1});
  const auto in_program =
      winners(snapshot, request_of_rows(230, kProblem), dispatch_test::target());
  REQUIRE(in_program.has_value());
  REQUIRE(in_program->size() == 2);
  CHECK(in_program->front().choice.spec.tile.edge == 1);
  CHECK(in_program->back().choice.spec.tile.edge == 0);
}

TEST_CASE("where cuBLASLt has tiles of 128 rows only, as many take it about as long") {
  const auto lender_of = [](double more_us, int more, int m, const char* epilogue) {
    const std::string problem = "e4m3/f32/ieee/tnt/{}x512x512/epilogue=" + std::string(epilogue);
    constexpr auto kTile = "tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2";
    return lender({{128, 8, 10, kTile, dispatch_test::kHere, problem.c_str(), "wgmma_tma"},
                   {more, 12, more_us, kTile, dispatch_test::kHere, problem.c_str(), "wgmma_tma"}},
                  request_of_rows(m, problem.c_str()));
  };
  for (const char* epilogue : {"scale_row", "scale_1x128_128x128", "scale_1x128"}) {
    CAPTURE(epilogue);
    CHECK(lender_of(13, 256, 200, epilogue) == 256);
    CHECK(lender_of(13, 256, 129, epilogue) == 256);
    CHECK(lender_of(12.8, 256, 200, epilogue) == 0);
    CHECK(lender_of(13, 384, 200, epilogue) == 0);
    CHECK(lender_of(13, 384, 257, epilogue) == 384);
  }
  // Of one scale each it has smaller ones.
  CHECK(lender_of(13, 256, 200, "scale") == 0);
}

TEST_CASE("a kernel of few rows lends to any fewer, unless its tiles stick out") {
  constexpr auto kTile = "tile_m=64 tile_n=32 tile_k=128 stages=8 consumers=1";
  constexpr auto kSliced = "tile_m=64 tile_n=32 tile_k=128 stages=6 consumers=1 slices=2";
  for (const int m : {9, 16, 44, 63}) {
    CHECK(tma_lender("wgmma_tma", kTile, 64, m) == 64);
    CHECK(tma_lender("wgmma_tma", kTile, 64, m, true) == 64);
    CHECK(tma_lender("wgmma_split_k", kSliced, 64, m) == 64);
    CHECK(tma_lender("wgmma_split_k", kSliced, 64, m, true) == 64);
  }
  // Of two tiles the second one begins earlier, unless C is read or sums lie in slots.
  for (const int m : {65, 80, 108}) {
    CHECK(tma_lender("wgmma_tma", kTile, 128, m) == 128);
    CHECK(tma_lender("wgmma_tma", kTile, 128, m, true) == 0);
    CHECK(tma_lender("wgmma_split_k", kSliced, 128, m) == 0);
  }
  CHECK(tma_lender("wgmma_tma", kTile, 128, 109, true) == 128);
  CHECK(tma_lender("wgmma_split_k", kSliced, 128, 109) == 128);
  // Nor where rows of C are stored in pieces.
  constexpr auto kOdd = "bf16/f32/ieee/tnt/{}x513x512";
  CHECK(tma_lender("wgmma_tma", kTile, 64, 9, false, kOdd) == 64);
  CHECK(tma_lender("wgmma_tma", kTile, 128, 80, false, kOdd) == 0);
}

TEST_CASE("a kernel whose stored tile has no rows lends nothing") {
  constexpr auto kProblem = "bf16/f32/ieee/tnt/{}x512x512";
  constexpr auto kTile = "tile_n=32 tile_k=128 stages=8 consumers=1";
  CHECK(lender({{8, 10, 13, kTile, dispatch_test::kHere, kProblem, "wgmma_tma"},
                {32, 12, 14, kTile, dispatch_test::kHere, kProblem, "wgmma_tma"}},
               request_of_rows(16, kProblem)) == 0);
}

TEST_CASE("in a program it takes cuBLAS's place, with the bounds as times") {
  const Snapshot snapshot = snapshot_with(kTuned);
  const auto found = dispatch_test::winner(snapshot, request_of_rows(16), dispatch_test::target());
  REQUIRE(found.has_value());
  CHECK(found->own_us == 12);
  CHECK(found->vendor_us == 13);
  CHECK(found->choice.neighbour->shape.m == 32);
  CHECK(found->choice.reason ==
        "12.00 us for 32 rows, where cuBLASLt takes 13.00 for 8 or 32, measured on this device");
  const auto none = dispatch_test::winner(snapshot, request_of_rows(64), dispatch_test::target());
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == kNotTuned);
}

TEST_CASE("where C is read, the bounds have to lie further apart") {
  const Snapshot close = snapshot_with({{8, 12, 12.4}, {32, 12, 12.4}});
  Request reading = request_of_rows(16);
  reading.reads_c = true;
  CHECK(dispatch_test::winner(close, request_of_rows(16), dispatch_test::target()));
  CHECK_FALSE(dispatch_test::winner(close, reading, dispatch_test::target()));
  CHECK(dispatch_test::winner(snapshot_with(kTuned), reading, dispatch_test::target()));
}

// The definition, by sorting.
int64_t expected_lender(const std::map<int, TunedRows>& tuned, int m) {
  if (const auto exact = tuned.find(m); exact != tuned.end()) {
    const TunedRows& row = exact->second;
    const bool own = row.kernel_us > 0 && (row.vendor_us == 0 || row.kernel_us <= row.vendor_us);
    if (own || row.vendor_us > 0) return own ? m : 0;
  }
  std::vector<TunedRows> fewer;
  std::vector<TunedRows> more;
  for (const auto& [rows, row] : tuned) {
    if (row.vendor_us == 0 || rows == m) continue;
    (rows < m ? fewer : more).push_back(row);
  }
  if (fewer.empty() || more.empty() || more.front().kernel_us == 0) return 0;
  const double vendor_us = std::min(fewer.back().vendor_us, more.front().vendor_us);
  return vendor_us >= 1.02 * more.front().kernel_us ? more.front().m : 0;
}

TEST_CASE("random results") {
  std::mt19937 random(11);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int lent = 0;
  for (int round = 0; round < 300; ++round) {
    std::map<int, TunedRows> tuned;
    std::vector<TunedRows> rows;
    for (int i = draw(6); i >= 0; --i) {
      const int m = 1 + draw(12);
      const TunedRows row{m, draw(5) == 0 ? 0.0 : 10 + draw(8), draw(5) == 0 ? 0.0 : 10 + draw(8)};
      const bool is_none = row.kernel_us == 0 && row.vendor_us == 0;
      if (!is_none && tuned.emplace(m, row).second) rows.push_back(row);
    }
    for (int m = 1; m <= 13; ++m) {
      const int64_t expected = expected_lender(tuned, m);
      CHECK(lender(rows, m) == expected);
      if (expected > m) ++lent;
    }
  }
  CHECK(lent > 100);
}

}  // namespace
}  // namespace gemmtune::dispatch
