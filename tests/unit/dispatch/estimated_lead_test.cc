#include "dispatch/estimated_lead.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/winner.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::least_us;
using dispatch_test::request_for;
using dispatch_test::Row;

constexpr const char* kNarrow = "tile_m=16 tile_n=64 tile_k=128 stages=8 consumers=1 exchange=1";
constexpr const char* kLargeIn16Bits = "tile_m=128 tile_n=128 tile_k=64 stages=4 consumers=2";
constexpr const char* kLarge = "tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2";

std::string scaled_rows(const std::string& shape) {
  return "e4m3/f32/ieee/tnt/" + shape + "/epilogue=scale_row";
}

Row row_of(const std::string& problem, double kernel_us = 6, double vendor_of_least = 3,
           const char* strategy = "wgmma_tma", const std::string& tile = kNarrow) {
  return dispatch_test::compared_row(problem, kernel_us, vendor_of_least, strategy, tile);
}

// With five problems near the first whose kernels are not lent, for which cuBLASLt takes as many
// times the least: so that it should for any other.
std::vector<Row> among_others(std::vector<Row> rows) {
  const Row first = rows.front();
  const double of_least = first.vendor_us / least_us(first.problem);
  Problem near = request_for(first.problem).problem;
  for (int i = 0; i < 5; ++i) {
    near.shape.k += 384;
    near.lda = near.ldb = 0;
    pack(near);
    Row row = row_of(key(near), 1000, of_least, "wgmma_stream_k",
                     std::string(kNarrow) + " sharing_blocks=132");
    row.uuid = first.uuid;
    rows.push_back(row);
  }
  return rows;
}

std::vector<EstimatedLead> leads(const std::vector<Row>& rows, const std::string& problem,
                                 Measured where = Measured::on_this_model) {
  return estimated_leads(dispatch_test::snapshot_of(among_others(rows)), request_for(problem),
                         dispatch_test::target(), where);
}

std::string lender_of(const std::vector<Row>& rows, const Request& request) {
  return dispatch_test::lender_of(dispatch_test::snapshot_of(among_others(rows)), request);
}
std::string lender_of(const std::vector<Row>& rows, const std::string& problem) {
  return lender_of(rows, request_for(problem));
}

// The same row, with cuBLASLt so slow that the kernel should be `lead` times as fast for `problem`.
Row with_lead(Row row, const std::string& problem, double lead) {
  const auto found = leads({row}, problem);
  REQUIRE(found.size() == 1);
  row.vendor_us = lead * found.front().lead.own_us * least_us(row.problem) / least_us(problem);
  return row;
}

// Whether it is lent with a lead of a hundredth more than `least`, and not with one of a hundredth
// less.
void check_least_lead(const Row& row, const std::string& problem, double least) {
  CAPTURE(row.problem);
  CHECK(lender_of({with_lead(row, problem, least + 0.01)}, problem) == row.problem);
  CHECK(lender_of({with_lead(row, problem, least - 0.01)}, problem) == "cuBLASLt");
}

const std::string kMeasured = scaled_rows("16x4096x4096");
const std::string kDeeper = scaled_rows("16x4096x8192");

// The device has 132 SMs, and the measured kernel 64 blocks.
TEST_CASE("a kernel's time grows with the bytes, or with what an SM computes if that is more") {
  const auto own_us = [](const std::string& shape) {
    const auto found = leads({row_of(kMeasured)}, scaled_rows(shape));
    REQUIRE(found.size() == 1);
    return found.front().lead.own_us;
  };
  const double bytes = 4096 * 4096 + 16 * 4096 + 2 * 16 * 4096;
  CHECK(own_us("16x4096x8192") == doctest::Approx(1 + 5 * 2.0));
  const double shallow = (4096 * 2048 + 16 * 2048 + 2 * 16 * 4096) / bytes;
  CHECK(own_us("16x4096x2048") == doctest::Approx(3 + 3 * shallow));
  const double wider = (8192 * 4096 + 16 * 4096 + 2 * 16 * 8192) / bytes;
  CHECK(own_us("16x8192x4096") == doctest::Approx(1 + 5 * wider));
}

TEST_CASE("cuBLASLt should take as many times the least as for problems that are near") {
  for (const std::string shape : {"16x4096x8192", "4x8192x4096"}) {
    const auto found = leads({row_of(kMeasured, 6, 2.5)}, scaled_rows(shape));
    REQUIRE(found.size() == 1);
    CHECK(found.front().lead.vendor_us == doctest::Approx(2.5 * least_us(scaled_rows(shape))));
  }
}

TEST_CASE("each wave of another depth that a kernel has more or less takes 2 us") {
  const auto own_us = [](const std::string& measured, const std::string& shape,
                         const std::string& tile = kNarrow) {
    const auto found =
        leads({row_of(scaled_rows(measured), 6, 3, "wgmma_tma", tile)}, scaled_rows(shape));
    REQUIRE(found.size() == 1);
    return found.front().lead.own_us;
  };
  const auto bytes = [](double n, double k) { return n * k + 16 * k + 2 * 16 * n; };
  const double half = bytes(8448, 2048) / bytes(8448, 4096);
  CHECK(own_us("16x8448x4096", "16x8448x2048") == doctest::Approx(3 + 3 * half));
  const double wider =
      bytes(8512, 2048) / bytes(8448, 4096);  // 133 blocks: 2 waves, as deep in all
  REQUIRE(wider < 1);
  CHECK(own_us("16x8448x4096", "16x8512x2048") == doctest::Approx(6 + 2));
  const double less = bytes(8448, 8192) / bytes(8512, 4096);
  CHECK(own_us("16x8512x4096", "16x8448x8192") == doctest::Approx(1 + 5 * less + 2));
  // As deep as there.
  CHECK(own_us("16x8448x4096", "16x16896x4096") == doctest::Approx(1 + 5 * 2.0));
  // Two blocks on an SM, or blocks that load their next tile while they store one.
  const std::string pairs = std::string(kNarrow) + " min_blocks=2";
  CHECK(own_us("16x8448x4096", "16x8512x2048", pairs) < 6);
  const std::string persistent = std::string(kNarrow) + " persistent_blocks=132";
  CHECK(own_us("16x8448x4096", "16x8512x2048", persistent) == doctest::Approx(6));
  // Clusters of four reach 120 of the SMs.
  const std::string clusters = std::string(kNarrow) + " cluster_m=1 cluster_n=4";
  CHECK(own_us("16x7680x4096", "16x7680x2048", clusters) < 6);
  CHECK(own_us("16x7680x4096", "16x7936x2048", clusters) == doctest::Approx(6 + 2));
}

TEST_CASE("a kernel whose tiles share weights is not estimated where fewer or more of them do") {
  const auto is_lent = [](const std::string& tile) {
    const Row row = row_of(scaled_rows("128x4096x4096"), 6, 3, "wgmma_tma", tile);
    return !leads({row}, scaled_rows("64x4096x8192")).empty();
  };
  CHECK(is_lent(kLarge));
  CHECK_FALSE(is_lent("tile_m=64 tile_n=128 tile_k=128 stages=4 consumers=1"));
}

TEST_CASE("of few rows in 16 bits kernels take a little less than estimated") {
  const auto of_rows = [](const std::string& type, const std::string& rows, double least) {
    const std::string kind = type + "/f32/ieee/tnt/" + rows;
    const char* tile = type == "e4m3" ? kLarge : kLargeIn16Bits;
    check_least_lead(row_of(kind + "x4096x4096", 6, 3, "wgmma_tma", tile), kind + "x4096x8192",
                     least);
  };
  of_rows("bf16", "128", 0.98);
  of_rows("f16", "128", 0.98);
  of_rows("bf16", "256", 1.03);
  of_rows("e4m3", "128", 1.03);
}

TEST_CASE("the kernel with the least time to expect is lent, where cuBLASLt should take longer") {
  check_least_lead(row_of(kMeasured), kDeeper, 1.03);
  const std::string nearer = scaled_rows("16x4096x7168");
  CHECK(lender_of({row_of(kMeasured), row_of(nearer, 14)}, kDeeper) == kMeasured);
  CHECK(lender_of({row_of(kMeasured), row_of(nearer, 9)}, kDeeper) == nearer);
  const Snapshot snapshot = dispatch_test::snapshot_of(among_others({row_of(kMeasured)}));
  const auto found = dispatch_test::winner(snapshot, request_for(kDeeper), dispatch_test::target());
  REQUIRE(found.has_value());
  CHECK(found->own_us == doctest::Approx(11));
  CHECK(found->choice.reason ==
        fmt::format(
            "should take 11.00 us by its time for {}, and cuBLASLt {:.2f}, measured on this device",
            kMeasured, 3 * least_us(kDeeper)));
}

TEST_CASE("nothing is estimated where less than six problems of the kind were measured") {
  std::vector<Row> rows = among_others({row_of(kMeasured)});
  const auto is_estimated = [&] {
    return !estimated_leads(dispatch_test::snapshot_of(rows), request_for(kDeeper),
                            dispatch_test::target(), Measured::on_this_model)
                .empty();
  };
  CHECK(is_estimated());
  rows.pop_back();
  CHECK_FALSE(is_estimated());
}

TEST_CASE("slices of k count a fifth more, and where stream-K's ranges fall is not estimated") {
  const std::string sliced = std::string(kNarrow) + " slices=2";
  const auto split = leads({row_of(kMeasured, 6, 3, "wgmma_split_k", sliced)}, kDeeper);
  REQUIRE(split.size() == 1);
  CHECK(split.front().lead.own_us == doctest::Approx(1.2 * 11));
  const std::string sharing = std::string(kNarrow) + " sharing_blocks=132";
  CHECK(leads({row_of(kMeasured, 6, 3, "wgmma_stream_k", sharing)}, kDeeper).empty());
  // More blocks than run at once.
  const auto runs_at_once = [](const std::string& tile, const std::string& shape) {
    return !leads({row_of(kMeasured, 6, 3, "wgmma_split_k", tile)}, scaled_rows(shape)).empty();
  };
  CHECK(runs_at_once(sliced, "16x4224x4096"));
  CHECK_FALSE(runs_at_once(sliced, "16x4288x4096"));
  // Clusters of four reach 120 SMs, and of five 109.
  const std::string together = "tile_m=64 tile_n=64 tile_k=128 stages=4 consumers=1 reduction=2";
  CHECK(runs_at_once(together + " slices=4", "16x1920x4096"));
  CHECK_FALSE(runs_at_once(together + " slices=4", "16x1984x4096"));
  CHECK(runs_at_once(together + " slices=5", "16x1344x4096"));
  CHECK_FALSE(runs_at_once(together + " slices=5", "16x1408x4096"));
  // More slices than there are tiles of k.
  CHECK_FALSE(runs_at_once(std::string(kNarrow) + " slices=16", "16x4096x1024"));
}

TEST_CASE("rows are as many or up to twice as many, and sizes up to three factors of two away") {
  const auto is_lent = [](const std::string& measured, const std::string& problem) {
    const Row row = row_of(scaled_rows(measured), 6, 3, "wgmma_tma", kLarge);
    return !leads({row}, scaled_rows(problem)).empty();
  };
  CHECK(is_lent("16x4096x4096", "4x4096x8192"));
  CHECK_FALSE(is_lent("16x4096x4096", "17x4096x8192"));
  CHECK(is_lent("64x4096x4096", "32x4096x8192"));
  CHECK_FALSE(is_lent("64x4096x4096", "31x4096x8192"));
  CHECK(is_lent("16x4096x4096", "16x16384x8192"));
  CHECK_FALSE(is_lent("16x4096x4096", "16x16384x8320"));
  CHECK(is_lent("512x4096x4096", "512x4096x8192"));
  CHECK_FALSE(is_lent("1024x4096x4096", "512x4096x8192"));
}

TEST_CASE("other kinds of products are not estimated") {
  const auto is_lent = [](const std::string& measured, const std::string& problem) {
    return !leads({row_of(measured)}, problem).empty();
  };
  const std::string bf16 = "bf16/f32/ieee/tnt/16x4096x4096";
  CHECK(is_lent(bf16, "bf16/f32/ieee/tnt/16x4096x8192"));
  CHECK(is_lent(bf16, "f16/f32/ieee/tnt/16x4096x8192"));
  CHECK(is_lent(bf16, "bf16/f32/ieee/tnt/16x4096x8192/epilogue=bias,relu"));
  CHECK_FALSE(is_lent(bf16 + "/epilogue=bias", "bf16/f32/ieee/tnt/16x4096x8192"));
  CHECK_FALSE(is_lent(bf16, "bf16/f32/ieee/ttt/16x4096x8192"));
  CHECK_FALSE(is_lent(bf16, "bf16/f32/ieee/tnt/16x4096x8200"));
  CHECK_FALSE(is_lent(bf16, "bf16/f32/ieee/tnt/16x4096x8192/batch=2"));
  CHECK_FALSE(is_lent(bf16, "f16/f16/ieee/tnt/16x4096x8192"));
  CHECK_FALSE(is_lent(kMeasured, "e4m3/f32/ieee/tnt/16x4096x8192"));
  const auto with_rows = [&](const std::string& type, const std::string& rows) {
    const std::string kind = type + "/f32/ieee/tnt/" + rows;
    const char* tile = type == "e4m3" ? kLarge : kLargeIn16Bits;
    const Row row = row_of(kind + "x4096x4096", 6, 3, "wgmma_tma", tile);
    return !leads({row}, kind + "x4096x8192").empty();
  };
  CHECK(with_rows("bf16", "512"));
  CHECK_FALSE(with_rows("bf16", "513"));
  CHECK(with_rows("e4m3", "128"));
  CHECK_FALSE(with_rows("e4m3", "129"));
  const std::string split = "f32/f32/3xtf32/tnt/16x4096x";
  CHECK_FALSE(is_lent(split + "4096", split + "8192"));
}

TEST_CASE("in f32 kernels mostly take less than estimated, whatever the order of the weights") {
  for (const std::string layout : {"tnt", "ttt"}) {
    const std::string kind = "f32/f32/ieee/" + layout + "/";
    check_least_lead(row_of(kind + "16x4096x4096", 6, 3, "naive", "tile_m=8 tile_n=32"),
                     kind + "16x4096x8192", 0.88);
  }
  const std::string many = "f32/f32/ieee/tnt/2048x4096x";
  check_least_lead(row_of(many + "4096", 600, 3, "naive", "tile_m=8 tile_n=32"), many + "8192",
                   1.03);
  check_least_lead(row_of("f32/f32/tf32/tnt/16x4096x4096", 6, 3, "wgmma_tma",
                          "tile_m=16 tile_n=64 tile_k=32 stages=8 consumers=1 exchange=1"),
                   "f32/f32/tf32/tnt/16x4096x8192", 1.03);
  const std::string many_in_tf32 = "f32/f32/tf32/tnt/2048x4096x";
  check_least_lead(row_of(many_in_tf32 + "4096", 200, 3, "wgmma_tma",
                          "tile_m=128 tile_n=128 tile_k=32 stages=4 consumers=2"),
                   many_in_tf32 + "8192", 1.03);
}

// cuBLASLt reads A once, too, and an own kernel does so for fewer columns than its tiles have.
TEST_CASE("of few columns any number of rows is estimated, up to three factors of two away") {
  constexpr const char* kTile = "tile_m=64 tile_n=16 tile_k=128 stages=4 consumers=1";
  const auto is_lent = [&](const std::string& type, const std::string& measured,
                           const std::string& problem) {
    const std::string kind = type + "/f32/ieee/tnt/";
    return !leads({row_of(kind + measured, 6, 3, "wgmma_tma", kTile)}, kind + problem).empty();
  };
  CHECK(is_lent("bf16", "4096x16x4096", "4000x16x2048"));
  CHECK(is_lent("f16", "4096x16x4096", "8000x4x4096"));
  CHECK(is_lent("bf16", "4096x32x4096", "8000x16x4096"));
  CHECK_FALSE(is_lent("bf16", "4096x32x4096", "8000x15x4096"));
  CHECK_FALSE(is_lent("bf16", "4096x16x4096", "4096x17x4096"));
  CHECK_FALSE(is_lent("bf16", "4096x16x4096", "32769x16x4096"));
  CHECK(is_lent("bf16", "4096x256x4096", "4096x250x2048"));
  CHECK_FALSE(is_lent("bf16", "4096x264x4096", "4096x264x2048"));
  CHECK_FALSE(is_lent("e4m3", "4096x16x4096", "4096x16x2048"));
  // Rows of C may be less aligned than there, not more.
  CHECK(is_lent("bf16", "4096x16x4096", "4096x15x4096"));
  CHECK_FALSE(is_lent("bf16", "4096x17x4096", "4096x16x4096"));
  // A is read as often or less.
  CHECK(is_lent("bf16", "4096x96x4096", "4096x64x4096"));
  const std::string measured = "bf16/f32/ieee/tnt/4096x16x4096";
  check_least_lead(row_of(measured, 6, 3, "wgmma_tma", kTile), "bf16/f32/ieee/tnt/4096x16x2048",
                   1.03);
}

TEST_CASE("gradients of narrow layers' weights are estimated in f32 and 16 bits") {
  const auto is_lent = [](const std::string& kind, const std::string& measured,
                          const std::string& problem, const std::string& tile) {
    const std::string strategy = kind.starts_with("f32") ? "naive" : "wgmma_tma";
    return !leads({row_of(kind + measured, 6, 3, strategy.c_str(), tile)}, kind + problem).empty();
  };
  const std::string f32 = "f32/f32/ieee/ntt/";
  const std::string bf16 = "bf16/f32/ieee/ntt/";
  const std::string in_f32 = "tile_m=8 tile_n=32";
  const std::string in_16_bits = "tile_m=64 tile_n=64 tile_k=64 stages=4 consumers=1";
  CHECK(is_lent(f32, "64x128x65536", "64x128x50000", in_f32));
  CHECK(is_lent(bf16, "64x128x65536", "64x128x50000", in_16_bits));
  // Whatever lines its rows begin in, but not elsewhere within 16 bytes.
  CHECK(is_lent(bf16, "64x128x65536", "40x104x50000", in_16_bits));
  CHECK_FALSE(is_lent(bf16, "64x128x65536", "40x100x50000", in_16_bits));
  CHECK(is_lent(f32, "64x512x65536", "64x512x50000", in_f32));
  CHECK_FALSE(is_lent(f32, "64x520x65536", "64x520x50000", in_f32));
  CHECK_FALSE(is_lent("f32/f32/tf32/ntt/", "64x128x65536", "64x128x50000", in_f32));
  CHECK_FALSE(is_lent("f32/f32/ieee/nnt/", "64x128x65536", "64x128x50000", in_f32));
  check_least_lead(row_of(f32 + "64x128x65536", 60, 3, "naive", in_f32), f32 + "64x128x50000",
                   0.88);
  check_least_lead(row_of(bf16 + "64x128x65536", 60, 3, "wgmma_tma", in_16_bits),
                   bf16 + "64x128x50000", 1.03);
}

TEST_CASE("in f32 gradients of narrow layers mostly take less than estimated") {
  const auto check = [](const std::string& measured, const std::string& problem, double least) {
    const std::string kind = "f32/f32/ieee/ttt/";
    check_least_lead(row_of(kind + measured, 6000, 3, "naive", "tile_m=8 tile_n=32"),
                     kind + problem, least);
  };
  check("8192x64x512", "6000x64x512", 0.88);
  check("8192x512x512", "6000x512x512", 0.88);
  check("8192x520x512", "6000x520x512", 1.03);
  check("8192x64x520", "6000x64x520", 1.03);
}

TEST_CASE("slices of more tiles than there take longer to add up where k is a batch's rows") {
  const std::string kind = "bf16/f32/ieee/ntt/";
  const auto is_lent = [&](const std::string& problem, const std::string& slices) {
    const std::string tile = "tile_m=64 tile_n=64 tile_k=64 stages=4 consumers=1" + slices;
    const char* strategy = slices.empty() ? "wgmma_tma" : "wgmma_split_k";
    return !leads({row_of(kind + "64x128x65536", 60, 3, strategy, tile)}, kind + problem).empty();
  };
  CHECK(is_lent("64x128x50000", " slices=8"));
  CHECK(is_lent("64x64x50000", " slices=8"));
  CHECK_FALSE(is_lent("64x192x50000", " slices=8"));
  CHECK(is_lent("64x192x50000", ""));
}

TEST_CASE("of f32 with few columns rows of A and B need not begin in lines as there") {
  const auto is_lent = [](const std::string& kind, const std::string& measured,
                          const std::string& problem) {
    return !leads({row_of(kind + measured, 60, 3, "naive", "tile_m=8 tile_n=32")}, kind + problem)
                .empty();
  };
  CHECK(is_lent("f32/f32/ieee/tnt/", "65536x64x1024", "65536x64x1000"));
  CHECK_FALSE(is_lent("f32/f32/ieee/tnt/", "65536x64x1024", "65536x64x1001"));
  CHECK(is_lent("f32/f32/ieee/ttt/", "65536x64x1024", "65536x60x1000"));
  CHECK_FALSE(is_lent("f32/f32/ieee/tnt/", "64x4096x4096", "64x4096x4100"));
}

TEST_CASE("of few columns kernels that share k out take no longer than others") {
  const std::string sliced = "tile_m=64 tile_n=16 tile_k=128 stages=4 consumers=1 slices=2";
  const std::string kind = "bf16/f32/ieee/tnt/";
  const auto found =
      leads({row_of(kind + "2048x16x4096", 6, 3, "wgmma_split_k", sliced)}, kind + "2048x16x8192");
  REQUIRE(found.size() == 1);
  CHECK(found.front().lead.own_us == doctest::Approx(11));
}

TEST_CASE("a kernel for few columns is lent whatever of its last tile is outside of A") {
  constexpr const char* kTile = "tile_m=64 tile_n=16 tile_k=128 stages=4 consumers=1 slices=2";
  const std::string measured = "bf16/f32/ieee/tnt/256x16x4096";
  const Row row = row_of(measured, 6, 9, "wgmma_split_k", kTile);
  CHECK(lender_of({row}, "bf16/f32/ieee/tnt/200x16x4096") == measured);
}

TEST_CASE("of integers any number of rows is estimated") {
  const std::string kind = "i8/i32/ieee/tnt/";
  const auto row = [&](const std::string& shape) {
    return row_of(kind + shape, 6, 3, "wgmma_tma", kLarge);
  };
  check_least_lead(row("1024x512x4096"), kind + "1024x512x8192", 1.03);
  const auto is_lent = [&](const std::string& measured, const std::string& shape) {
    return !leads({row(measured)}, kind + shape).empty();
  };
  // Above 256 rows kernels for at least half as many, too, with as many tiles or not.
  CHECK(is_lent("1024x512x4096", "1800x640x4096"));
  CHECK(is_lent("1024x512x4096", "2048x640x4096"));
  CHECK_FALSE(is_lent("1024x512x4096", "2049x640x4096"));
  CHECK(is_lent("1024x512x4096", "512x512x8192"));
  CHECK_FALSE(is_lent("1024x512x4096", "511x512x8192"));
  CHECK_FALSE(is_lent("250x512x4096", "256x512x4608"));
}

TEST_CASE("of integers kernels that share k out have to be further ahead by estimates") {
  const std::string sliced = std::string(kNarrow) + " slices=2";
  const std::string deeper = "i8/i32/ieee/tnt/16x4096x8192";
  const Row split = row_of("i8/i32/ieee/tnt/16x4096x4096", 6, 3, "wgmma_split_k", sliced);
  check_least_lead(split, deeper, 1.06);
  // Then the next fastest may be ahead: 13.2 us and 13.86, 13.4 us and 13.86.
  const Row nearly = with_lead(split, deeper, 1.05);
  const Row whole =
      row_of("i8/i32/ieee/tnt/16x4096x4224", 7.4, nearly.vendor_us / least_us(nearly.problem));
  CHECK(lender_of({nearly, whole}, deeper) == whole.problem);
}

// For a program that gives cuBLASLt too little workspace.
TEST_CASE("integers run on a kernel that should be half as fast as cuBLASLt's fastest algorithm") {
  const auto lender = [](double lead, const std::string& kind = "i8/i32/ieee/tnt/",
                         const char* uuid = dispatch_test::kHere) {
    const std::string deeper = kind + "1024x512x8192";
    Row row = row_of(kind + "1024x512x4096", 6, 3, "wgmma_tma", kLarge);
    if (kind.starts_with("i8")) row = with_lead(row, deeper, lead);
    row.uuid = uuid;
    const Snapshot snapshot = dispatch_test::snapshot_of(among_others({row}));
    const auto found = level_kernels(snapshot, request_for(deeper), dispatch_test::target());
    return found ? key(*found->front().choice.neighbour) : found.error().message;
  };
  CHECK(lender(0.505) == "i8/i32/ieee/tnt/1024x512x4096");
  CHECK(lender(0.495) == kNotTuned);
  CHECK(lender(9, "e4m3/f32/ieee/tnt/") == kNotTuned);
  // By times on another model 2% more, as nothing is near its peak.
  CHECK(lender(0.515, "i8/i32/ieee/tnt/", dispatch_test::kSister) ==
        "i8/i32/ieee/tnt/1024x512x4096");
  CHECK(lender(0.505, "i8/i32/ieee/tnt/", dispatch_test::kSister) == kNotTuned);
}

TEST_CASE("a kernel that is stale, not compared or may not run is lent to nobody") {
  Row stale = row_of(kMeasured);
  stale.stale = true;
  CHECK(lender_of({stale}, kDeeper) == "cuBLASLt");
  Row alone = row_of(kMeasured);
  alone.vendor_us = 0;
  CHECK(lender_of({alone}, kDeeper) == "cuBLASLt");
  CHECK(lender_of({row_of(kMeasured, 0)}, kDeeper) == "cuBLASLt");
  const std::string illegal = "tile_m=16 tile_n=60 tile_k=128 stages=8 consumers=1 exchange=1";
  CHECK(lender_of({row_of(kMeasured, 6, 3, "wgmma_tma", illegal)}, kDeeper) == "cuBLASLt");
}

TEST_CASE("a kernel's time is held against cuBLASLt's on the model that it was measured on") {
  // Another model takes half as long, by either side.
  const Row here = with_lead(row_of(scaled_rows("16x4096x5120"), 10), kDeeper, 1.02);
  Row elsewhere = with_lead(row_of(kMeasured, 4), kDeeper, 1.02);
  elsewhere.uuid = dispatch_test::kSister;
  const auto rows = [&] {
    std::vector<Row> all = among_others({here});
    for (const Row& row : among_others({elsewhere})) all.push_back(row);
    return dispatch_test::snapshot_of(all);
  };
  const auto found = [&](Measured where) {
    return estimated_leads(rows(), request_for(kDeeper), dispatch_test::target(), where);
  };
  CHECK(dispatch_test::lender_of(rows(), request_for(kDeeper)) == "cuBLASLt");
  REQUIRE(found(Measured::on_this_model).size() == 1);
  CHECK(found(Measured::on_this_model).front().lead.vendor_us >
        1.5 * found(Measured::on_another).front().lead.vendor_us);
  elsewhere.vendor_us *= 1.1;
  CHECK(dispatch_test::lender_of(rows(), request_for(kDeeper)) == kMeasured);
}

TEST_CASE("where C is read, estimates have to lie further apart") {
  // 11 us and 11.5, of which 8 KB of C take 0.2.
  const std::vector<Row> close = {with_lead(row_of(kMeasured), kDeeper, 1.04)};
  Request request = request_for(kDeeper);
  CHECK(lender_of(close, request) == kMeasured);
  request.reads_c = true;
  CHECK(lender_of(close, request) == "cuBLASLt");
  CHECK(lender_of({row_of(kMeasured)}, request) == kMeasured);
}

}  // namespace
}  // namespace gemmtune::dispatch
