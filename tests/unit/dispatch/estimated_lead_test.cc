#include "dispatch/estimated_lead.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/winner.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::request_for;
using dispatch_test::Row;

constexpr const char* kNarrow = "tile_m=16 tile_n=64 tile_k=128 stages=8 consumers=1 exchange=1";
constexpr const char* kLarge = "tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2";
constexpr const char* kVendor = "algo=66 tile=128x128 stages=128xauto cluster=1x1x1 splitk=1";

std::string scaled_rows(const std::string& shape) {
  return "e4m3/f32/ieee/tnt/" + shape + "/epilogue=scale_row";
}

Row row_of(const std::string& problem, double kernel_us = 6, double vendor_us = 12,
           const char* strategy = "wgmma_tma", const std::string& tile = kNarrow) {
  Row row{dispatch_test::kHere, kernel_us, vendor_us, tile};
  row.problem = problem;
  row.strategy = strategy;
  row.vendor = kVendor;
  return row;
}

std::vector<EstimatedLead> leads(const std::vector<Row>& rows, const std::string& problem,
                                 Measured where = Measured::on_this_model) {
  return estimated_leads(dispatch_test::snapshot_of(rows), request_for(problem),
                         dispatch_test::target(), where);
}

std::string lender_of(const std::vector<Row>& rows, const Request& request) {
  return dispatch_test::lender_of(dispatch_test::snapshot_of(rows), request);
}
std::string lender_of(const std::vector<Row>& rows, const std::string& problem) {
  return lender_of(rows, request_for(problem));
}

const std::string kMeasured = scaled_rows("16x4096x4096");
const std::string kDeeper = scaled_rows("16x4096x8192");

// The device has 132 SMs, and the measured kernel 64 blocks, cuBLASLt's 32.
TEST_CASE("times grow with the bytes, or with what an SM computes if that is more") {
  const auto lead = [](const std::string& shape) {
    const auto found = leads({row_of(kMeasured)}, scaled_rows(shape));
    REQUIRE(found.size() == 1);
    return found.front().lead;
  };
  // Twice as deep: both twice, but for what stays.
  const double bytes = 4096 * 4096 + 16 * 4096 + 2 * 16 * 4096;
  const double deeper = (2 * 4096 * 4096 + 16 * 8192 + 2 * 16 * 4096) / bytes;
  CHECK(lead("16x4096x8192").own_us == doctest::Approx(1 + 5 * 2.0));
  CHECK(lead("16x4096x8192").vendor_us == doctest::Approx(3 + 9 * deeper));
  // Half as deep.
  const double shallow = (4096 * 2048 + 16 * 2048 + 2 * 16 * 4096) / bytes;
  CHECK(lead("16x4096x2048").own_us == doctest::Approx(3 + 3 * shallow));
  CHECK(lead("16x4096x2048").vendor_us == doctest::Approx(1 + 11 * 0.5));
  // Twice as wide: cuBLASLt's 64 blocks still run at once.
  const double wider = (8192 * 4096 + 16 * 4096 + 2 * 16 * 8192) / bytes;
  CHECK(lead("16x8192x4096").own_us == doctest::Approx(1 + 5 * wider));
  CHECK(lead("16x8192x4096").vendor_us == doctest::Approx(12));
}

TEST_CASE("each wave of blocks that a kernel has more or less takes 2 us") {
  const auto own_us = [](const std::string& measured, const std::string& shape,
                         const std::string& tile = kNarrow) {
    const auto found =
        leads({row_of(scaled_rows(measured), 6, 12, "wgmma_tma", tile)}, scaled_rows(shape));
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
    const Row row = row_of(scaled_rows("128x4096x4096"), 6, 12, "wgmma_tma", tile);
    return !leads({row}, scaled_rows("64x4096x8192")).empty();
  };
  CHECK(is_lent(kLarge));
  CHECK_FALSE(is_lent("tile_m=64 tile_n=128 tile_k=128 stages=4 consumers=1"));
}

TEST_CASE("cuBLASLt mostly takes more than the least time in types of 16 bits") {
  const std::string measured = "bf16/f32/ieee/tnt/16x4096x4096";
  const std::string deeper = "bf16/f32/ieee/tnt/16x4096x8192";
  // 11 us and 10.6, 11 us and 10.2.
  CHECK(lender_of({row_of(measured, 6, 6.9)}, deeper) == measured);
  CHECK(lender_of({row_of(measured, 6, 6.7)}, deeper) == "cuBLASLt");
  CHECK(lender_of({row_of(kMeasured, 6, 6.9)}, kDeeper) == "cuBLASLt");
  // Not where it was measured with such an n and k.
  const Row with_more_rows = row_of("bf16/f32/ieee/tnt/32x4096x8192", 11, 10.6);
  CHECK(lender_of({row_of(measured, 6, 6.9), with_more_rows}, deeper) == "cuBLASLt");
}

TEST_CASE("the kernel with the least time to expect is lent, where cuBLASLt should take longer") {
  CHECK(lender_of({row_of(kMeasured)}, kDeeper) == kMeasured);
  // 12 us and 11.
  CHECK(lender_of({row_of(kMeasured, 6, 7.3)}, kDeeper) == kMeasured);
  CHECK(lender_of({row_of(kMeasured, 6, 7)}, kDeeper) == "cuBLASLt");
  const std::string nearer = scaled_rows("16x4096x7168");
  CHECK(lender_of({row_of(kMeasured), row_of(nearer, 14, 28)}, kDeeper) == kMeasured);
  CHECK(lender_of({row_of(kMeasured), row_of(nearer, 9, 28)}, kDeeper) == nearer);
  const Snapshot snapshot = dispatch_test::snapshot_of({row_of(kMeasured)});
  const auto found = dispatch_test::winner(snapshot, request_for(kDeeper), dispatch_test::target());
  REQUIRE(found.has_value());
  CHECK(found->own_us == doctest::Approx(11));
  CHECK(found->choice.reason == "should take 11.00 us at most by its time for " + kMeasured +
                                    ", and cuBLASLt 20.93 at least, measured on this device");
}

TEST_CASE("cuBLASLt's least time is by the three nearest problems") {
  const std::string problem = scaled_rows("16x4096x6144");
  const auto vendor_us = [&](const std::vector<Row>& rows) {
    return leads(rows, problem).front().lead.vendor_us;
  };
  std::vector<Row> rows = {row_of(scaled_rows("16x4096x7168"), 10, 20),
                           row_of(scaled_rows("16x4096x5120"), 10, 20),
                           row_of(scaled_rows("16x4096x4096"), 10, 11)};
  CHECK(vendor_us(rows) < 17);
  rows.push_back(row_of(scaled_rows("16x4096x6656"), 10, 20));
  CHECK(vendor_us(rows) > 17);
}

TEST_CASE("nor is it faster than it is for any of many problems") {
  constexpr double kMicroseconds = 0.02 * 4096;  // for 4096 values of k, beside 3 us
  std::vector<Row> rows;
  for (int n = 1024; n <= 8192; n += 512) {
    const std::string shape = "16x" + std::to_string(n) + "x4096";
    rows.push_back(row_of(scaled_rows(shape), 20, 3 + kMicroseconds));
  }
  const auto vendor_us = [&](const std::string& shape) {
    return leads(rows, scaled_rows(shape)).front().lead.vendor_us;
  };
  REQUIRE(rows.size() == 15);
  CHECK(vendor_us("16x4096x2048") < 40);  // by the nearest ones
  rows.push_back(row_of(scaled_rows("16x8448x4096"), 20, 3 + kMicroseconds));
  CHECK(vendor_us("16x4096x2048") == doctest::Approx(3 + kMicroseconds / 2));
  // Of 8448 columns it reads the most at a time.
  const auto bytes = [](double n) { return n * 4096 + 16 * 4096 + 2 * 16 * n; };
  CHECK(vendor_us("16x12672x4096") ==
        doctest::Approx(3 + kMicroseconds * bytes(12672) / bytes(8448)));
  // Where it has many tiles its blocks say nothing, nor where it shares k out.
  rows.back().vendor = "algo=66 tile=128x128 stages=128xauto cluster=1x1x1 splitk=2";
  CHECK(vendor_us("16x4096x2048") < 40);
  rows.back().vendor = kVendor;
  for (Row& row : rows) row.problem.resize(row.problem.find("/epilogue"));
  CHECK(leads(rows, "e4m3/f32/ieee/tnt/16x4096x2048").front().lead.vendor_us < 40);
}

TEST_CASE("slices of k count a fifth more, and where stream-K's ranges fall is not estimated") {
  const std::string sliced = std::string(kNarrow) + " slices=2";
  const auto split = leads({row_of(kMeasured, 6, 12, "wgmma_split_k", sliced)}, kDeeper);
  REQUIRE(split.size() == 1);
  CHECK(split.front().lead.own_us == doctest::Approx(1.2 * 11));
  const std::string sharing = std::string(kNarrow) + " sharing_blocks=132";
  CHECK(leads({row_of(kMeasured, 6, 12, "wgmma_stream_k", sharing)}, kDeeper).empty());
  // More blocks than run at once.
  const Row narrow = row_of(kMeasured, 6, 12, "wgmma_split_k", sliced);
  CHECK(leads({narrow}, scaled_rows("16x4224x4096")).size() == 1);
  CHECK(leads({narrow}, scaled_rows("16x4288x4096")).empty());
  // More slices than there are tiles of k.
  const std::string many = std::string(kNarrow) + " slices=16";
  CHECK(leads({row_of(kMeasured, 6, 12, "wgmma_split_k", many)}, scaled_rows("16x4096x1024"))
            .empty());
}

TEST_CASE("rows are as many or up to twice as many, and sizes up to three factors of two away") {
  const auto is_lent = [](const std::string& measured, const std::string& problem) {
    const Row row = row_of(scaled_rows(measured), 6, 12, "wgmma_tma", kLarge);
    return !leads({row}, scaled_rows(problem)).empty();
  };
  CHECK(is_lent("16x4096x4096", "1x4096x8192"));
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
  const std::string many = "bf16/f32/ieee/tnt/256x4096x4096";
  CHECK_FALSE(is_lent(many, "bf16/f32/ieee/tnt/129x4096x8192"));
  const std::string split = "f32/f32/3xtf32/tnt/16x4096x";
  CHECK_FALSE(is_lent(split + "4096", split + "8192"));
}

TEST_CASE("in f32 kernels mostly take less than estimated, whatever the order of the weights") {
  constexpr const char* kTile = "tile_m=8 tile_n=32";
  const auto lender = [&](const std::string& kind, double vendor_us) {
    const Row row = row_of(kind + "16x4096x4096", 6, vendor_us, "naive", kTile);
    const std::string lender = lender_of({row}, kind + "16x4096x8192");
    return lender == row.problem ? "lent" : lender;
  };
  // 11 us and 9.1, 11 us and 8.7.
  for (const std::string layout : {"tnt", "ttt"}) {
    CHECK(lender("f32/f32/ieee/" + layout + "/", 6.0) == "lent");
    CHECK(lender("f32/f32/ieee/" + layout + "/", 5.8) == "cuBLASLt");
  }
  CHECK(lender("f32/f32/ieee/ntt/", 12) == "lent");  // as a similar problem's
  CHECK(lender("f32/f32/ieee/ntt/", 10) == "cuBLASLt");
  const auto of_tf32 = [&](double vendor_us) {
    const Row row = row_of("f32/f32/tf32/tnt/16x4096x4096", 6, vendor_us, "wgmma_tma",
                           "tile_m=16 tile_n=64 tile_k=32 stages=8 consumers=1 exchange=1");
    return lender_of({row}, "f32/f32/tf32/tnt/16x4096x8192");
  };
  // 11 us and 11.6, 11 us and 11.
  CHECK(of_tf32(7.3) == "f32/f32/tf32/tnt/16x4096x4096");
  CHECK(of_tf32(7.0) == "cuBLASLt");
}

TEST_CASE("of integers any number of rows is estimated") {
  const auto row = [](const std::string& shape, double vendor_us) {
    return row_of("i8/i32/ieee/tnt/" + shape, 6, vendor_us, "wgmma_tma", kLarge);
  };
  const auto lender = [&](const std::string& measured, double vendor_us, const std::string& shape) {
    const std::string lender = lender_of({row(measured, vendor_us)}, "i8/i32/ieee/tnt/" + shape);
    return lender == row(measured, 0).problem ? "lent" : lender;
  };
  // 11 us and 10.7, 11 us and 10.2.
  CHECK(lender("1024x512x4096", 7.4, "1024x512x8192") == "lent");
  CHECK(lender("1024x512x4096", 7.1, "1024x512x8192") == "cuBLASLt");
  // Above 256 rows kernels for at least half as many, too, with as many tiles or not.
  CHECK(lender("1024x512x4096", 10, "1800x640x4096") == "lent");
  CHECK(lender("1024x512x4096", 10.5, "2048x640x4096") == "lent");
  CHECK(lender("1024x512x4096", 10.5, "2049x640x4096") == "cuBLASLt");
  CHECK(lender("1024x512x4096", 10, "512x512x8192") == "lent");
  CHECK(lender("1024x512x4096", 10, "511x512x8192") == "cuBLASLt");
  CHECK(lender("250x512x4096", 10, "256x512x4608") == "cuBLASLt");
}

TEST_CASE("of integers kernels that share k out have to be ahead by estimates") {
  const auto is_lent = [](double vendor_us) {
    const std::string sliced = std::string(kNarrow) + " slices=2";
    const Row row = row_of("i8/i32/ieee/tnt/16x4096x4096", 6, vendor_us, "wgmma_split_k", sliced);
    return lender_of({row}, "i8/i32/ieee/tnt/16x4096x8192") == row.problem;
  };
  // 13.2 us and 13.8, 13.2 us and 13.4.
  CHECK(is_lent(8.4));
  CHECK_FALSE(is_lent(8.2));
  // Then the next fastest may be near enough: 13.6 us and 13.3.
  const std::string sliced = std::string(kNarrow) + " slices=2";
  const Row faster = row_of("i8/i32/ieee/tnt/16x4096x4096", 6, 8.3, "wgmma_split_k", sliced);
  const Row whole = row_of("i8/i32/ieee/tnt/16x4096x4224", 7.5, 8.3);
  CHECK(lender_of({faster, whole}, "i8/i32/ieee/tnt/16x4096x8192") == whole.problem);
}

// For a program that gives cuBLASLt too little workspace.
TEST_CASE("integers run on a kernel that should be half as fast as cuBLASLt's fastest algorithm") {
  const auto lender = [](double vendor_us, const std::string& kind = "i8/i32/ieee/tnt/",
                         const char* uuid = dispatch_test::kHere) {
    Row row = row_of(kind + "1024x512x4096", 6, vendor_us, "wgmma_tma", kLarge);
    row.uuid = uuid;
    const Snapshot snapshot = dispatch_test::snapshot_of({row});
    const auto found =
        level_kernels(snapshot, request_for(kind + "1024x512x8192"), dispatch_test::target());
    return found ? key(*found->front().choice.neighbour) : found.error().message;
  };
  // 11 us and 5.6, 11 us and 5.3.
  CHECK(lender(4.5) == "i8/i32/ieee/tnt/1024x512x4096");
  CHECK(lender(4.3) == kNotTuned);
  CHECK(lender(12, "e4m3/f32/ieee/tnt/") == kNotTuned);
  // By times on another model 2% more, as nothing is near its peak: 11 us and 5.8, 11 us and 5.57.
  CHECK(lender(4.6, "i8/i32/ieee/tnt/", dispatch_test::kSister) == "i8/i32/ieee/tnt/1024x512x4096");
  CHECK(lender(4.47) == "i8/i32/ieee/tnt/1024x512x4096");
  CHECK(lender(4.47, "i8/i32/ieee/tnt/", dispatch_test::kSister) == kNotTuned);
}

TEST_CASE("a kernel that is stale, not compared or may not run is lent to nobody") {
  Row stale = row_of(kMeasured);
  stale.stale = true;
  CHECK(lender_of({stale}, kDeeper) == "cuBLASLt");
  CHECK(lender_of({row_of(kMeasured, 6, 0)}, kDeeper) == "cuBLASLt");
  CHECK(lender_of({row_of(kMeasured, 0, 12)}, kDeeper) == "cuBLASLt");
  const std::string illegal = "tile_m=16 tile_n=60 tile_k=128 stages=8 consumers=1 exchange=1";
  CHECK(lender_of({row_of(kMeasured, 6, 12, "wgmma_tma", illegal)}, kDeeper) == "cuBLASLt");
}

TEST_CASE("a kernel's time is held against cuBLASLt's on the model that it was measured on") {
  // Another model takes half as long, by either side.
  std::vector<Row> rows = {row_of(scaled_rows("16x4096x5120"), 10, 10),
                           row_of(scaled_rows("16x4096x6144"), 12, 12),
                           row_of(scaled_rows("16x4096x7168"), 14, 14)};
  Row elsewhere = row_of(kMeasured, 4, 4);
  elsewhere.uuid = dispatch_test::kSister;
  rows.push_back(elsewhere);
  CHECK(lender_of(rows, kDeeper) == "cuBLASLt");
  CHECK(leads(rows, kDeeper).size() == 3);
  CHECK(leads(rows, kDeeper, Measured::on_another).size() == 1);
  rows.back().vendor_us = 8;
  CHECK(lender_of(rows, kDeeper) == kMeasured);
}

TEST_CASE("where C is read, estimates have to lie further apart") {
  // 11 us and 11.5, of which 8 KB of C take 0.2.
  const std::vector<Row> close = {row_of(kMeasured, 6, 7.3)};
  Request request = request_for(kDeeper);
  CHECK(lender_of(close, request) == kMeasured);
  request.reads_c = true;
  CHECK(lender_of(close, request) == "cuBLASLt");
  CHECK(lender_of({row_of(kMeasured)}, request) == kMeasured);
}

}  // namespace
}  // namespace gemmtune::dispatch
