#include "dispatch/variant_lead.h"

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

const std::string kNaiveTile = "tile_m=8 tile_n=32";
const std::string kTmaTile = "tile_m=64 tile_n=64 tile_k=64 stages=4 consumers=1";

struct TunedVariant {
  std::string problem;
  double kernel_us = 10;
  double vendor_us = 11;
  const char* uuid = dispatch_test::kHere;
  bool stale = false;
  std::string config{};  // of a strategy for the problem's type; empty: one that is legal
};

Snapshot snapshot_of_variants(const std::vector<TunedVariant>& tuned) {
  std::vector<Row> rows;
  for (const TunedVariant& one : tuned) {
    const bool is_f32 = one.problem.starts_with("f32");
    Row row{one.uuid, one.kernel_us, one.vendor_us};
    row.config = !one.config.empty() ? one.config : is_f32 ? kNaiveTile : kTmaTile;
    row.problem = one.problem;
    row.strategy = is_f32 ? "naive" : "wgmma_tma";
    row.stale = one.stale;
    rows.push_back(row);
  }
  return dispatch_test::snapshot_of(rows);
}

std::string variant_lender(const std::vector<TunedVariant>& tuned, const std::string& problem,
                           bool reads_c = false) {
  Request request = request_for(problem);
  request.reads_c = reads_c;
  const Snapshot snapshot = snapshot_of_variants(tuned);
  const Choice first = decide(snapshot, request, dispatch_test::target()).choices.at(0);
  if (first.route == Choice::Route::kernel) {
    CHECK(first.spec.traits.epilogue == request.problem.epilogue);
    CHECK(first.spec.type == request.problem.type);
  }
  return dispatch_test::lender_of(snapshot, request);
}

const std::string kBf16 = "bf16/f32/ieee/tnt/64x4096x4096";
const std::string kF16 = "f16/f32/ieee/tnt/64x4096x4096";
const std::string kF32 = "f32/f32/ieee/ttt/512x512x512";

TEST_CASE("bf16 and f16 lend each other kernels, f32 and results of another size none") {
  CHECK(variant_lender({{kBf16}}, kF16) == kBf16);
  CHECK(variant_lender({{kF16}}, kBf16) == kF16);
  CHECK(variant_lender({{kBf16}}, "f32/f32/tf32/tnt/64x4096x4096") == "cuBLASLt");
  CHECK(variant_lender({{kBf16}}, kF16 + "/out=f32") == "cuBLASLt");
  CHECK(variant_lender({{kBf16}}, "f16/f16/ieee/tnt/64x4096x4096") == "cuBLASLt");
}

TEST_CASE("problems lend kernels to others that differ in their epilogue") {
  for (const char* epilogue : {"bias", "relu", "bias,gelu"}) {
    CHECK(variant_lender({{kF32}}, kF32 + "/epilogue=" + epilogue) == kF32);
    CHECK(variant_lender({{kF32 + "/epilogue=" + epilogue}}, kF32) ==
          kF32 + "/epilogue=" + epilogue);
    CHECK(variant_lender({{kBf16}}, kF16 + "/epilogue=" + epilogue) == kBf16);
  }
}

TEST_CASE(
    "scales of rows or blocks are no variant of others, whose kernels cuBLASLt does not run for "
    "them") {
  const std::string plain = "e4m3/f32/ieee/tnt/64x4096x4096";
  const std::string scaled = plain + "/epilogue=scale";
  const std::string rows = plain + "/epilogue=scale_row";
  const std::string tile = "tile_m=64 tile_n=64 tile_k=128 stages=4 consumers=1";
  const auto lender = [&](const std::string& tuned, const std::string& problem) {
    return variant_lender({{tuned, 10, 20, dispatch_test::kHere, false, tile}}, problem);
  };
  CHECK(lender(plain, scaled) == plain);
  CHECK(lender(scaled, plain) == scaled);
  CHECK(lender(scaled, scaled + ",bias") == scaled);
  CHECK(lender(rows, rows + ",bias") == rows);
  CHECK(lender(rows, scaled) == "cuBLASLt");
  CHECK(lender(rows, plain) == "cuBLASLt");
  CHECK(lender(scaled, rows) == "cuBLASLt");
  const std::string blocks = plain + "/epilogue=scale_1x128_128x128";
  CHECK(lender(blocks, blocks + ",bias") == blocks);
  for (const std::string& other : {plain, scaled, rows, plain + "/epilogue=scale_1x128"}) {
    CHECK(lender(other, blocks) == "cuBLASLt");
    CHECK(lender(blocks, other) == "cuBLASLt");
  }
}

TEST_CASE("rows may lie further apart, if they begin where others do in lines of 128 bytes") {
  CHECK(variant_lender({{kBf16}}, kBf16 + "/ld=4160,4096,4096") == kBf16);
  CHECK(variant_lender({{kBf16}}, kBf16 + "/ld=4096,4096,8192") == kBf16);
  CHECK(variant_lender({{kBf16}}, kBf16 + "/ld=4104,4096,4096") == "cuBLASLt");
  CHECK(variant_lender({{kBf16}}, kBf16 + "/ld=4096,4128,4096") == "cuBLASLt");
  CHECK(variant_lender({{kBf16 + "/ld=4104,4096,4096"}}, kBf16 + "/ld=4120,4096,4096") ==
        kBf16 + "/ld=4104,4096,4096");
}

TEST_CASE("other sizes, layouts, modes, batches and alignments are no variants") {
  for (const char* other : {"bf16/f32/ieee/tnt/65x4096x4096", "bf16/f32/ieee/ttt/64x4096x4096",
                            "bf16/f32/ieee/tnt/64x4096x4096/batch=2"}) {
    CHECK(variant_lender({{kBf16}}, other) == "cuBLASLt");
  }
  CHECK(variant_leads(snapshot_of_variants({{kF32}}), request_for(kF32 + "/align=16").problem)
            .empty());
  CHECK(variant_leads(snapshot_of_variants({{kF32}}),
                      request_for("f32/f32/tf32/ttt/512x512x512").problem)
            .empty());
}

TEST_CASE("a kernel that is ahead by less than 2%, stale or not compared is not lent") {
  CHECK(variant_lender({{kBf16, 10, 10.21}}, kF16) == kBf16);
  CHECK(variant_lender({{kBf16, 10, 10.19}}, kF16) == "cuBLASLt");
  CHECK(variant_lender({{kBf16, 10, 0}}, kF16) == "cuBLASLt");
  CHECK(variant_lender({{kBf16, 0, 11}}, kF16) == "cuBLASLt");
  CHECK(variant_lender({{kBf16, 10, 11, dispatch_test::kHere, true}}, kF16) == "cuBLASLt");
  CHECK(variant_lender({{kBf16, 10, 11, dispatch_test::kTwin}}, kF16) == kBf16);
}

TEST_CASE("on another model with as many SMs the variant has to be ahead by what that takes") {
  const auto lender = [](double kernel_us, double lead, const char* uuid) {
    return variant_lender({{kBf16, kernel_us, lead * kernel_us, uuid}}, kF16);
  };
  // A quarter of the tensor cores' peak are 8.7 us.
  CHECK(lender(10, 1.03, dispatch_test::kSister) == kBf16);
  CHECK(lender(10, 1.01, dispatch_test::kSister) == "cuBLASLt");
  CHECK(lender(8, 1.07, dispatch_test::kSister) == "cuBLASLt");
  CHECK(lender(8, 1.09, dispatch_test::kSister) == kBf16);
  CHECK(lender(8, 1.07, dispatch_test::kTwin) == kBf16);
  CHECK(lender(10, 2, dispatch_test::kOther) == "cuBLASLt");
  CHECK(variant_lender({{kBf16, 10, 11, dispatch_test::kSister, true}}, kF16) == "cuBLASLt");
}

TEST_CASE("one that may have run at the power limit has to be ahead by 8%") {
  const std::string large = "/f32/ieee/tnt/4096x4096x4096";
  // 687 TFLOP/s.
  CHECK(variant_lender({{"bf16" + large, 200, 217}}, "f16" + large) == "bf16" + large);
  CHECK(variant_lender({{"bf16" + large, 200, 215}}, "f16" + large) == "cuBLASLt");
}

TEST_CASE("where C is read, it has to be further ahead") {
  CHECK(variant_lender({{kBf16, 10, 10.5}}, kF16, false) == kBf16);
  CHECK(variant_lender({{kBf16, 10, 10.5}}, kF16, true) == "cuBLASLt");
  CHECK(variant_lender({{kBf16, 10, 11}}, kF16, true) == kBf16);
}

TEST_CASE("the nearest variant decides, one with the same types before others") {
  const std::string bias = kBf16 + "/epilogue=bias";
  CHECK(variant_lender({{kBf16}, {kF16 + "/epilogue=bias"}}, bias) == kBf16);
  CHECK(variant_lender({{kBf16, 10, 10}, {kF16 + "/epilogue=bias"}}, bias) == "cuBLASLt");
  CHECK(variant_lender({{kF16}, {bias}}, kBf16 + "/epilogue=bias,relu") == bias);
  CHECK(variant_lender({{kBf16}, {bias}}, kBf16 + "/epilogue=bias,relu") == bias);
}

TEST_CASE("a kernel that may not run here leaves it to the next") {
  TunedVariant illegal = {kBf16};
  illegal.config = "tile_m=63 tile_n=64 tile_k=64 stages=4 consumers=1";
  CHECK(variant_lender({illegal, {kF16}}, kBf16 + "/epilogue=bias") == kF16);
}

TEST_CASE("what was measured comes before what variants lend, and that before similar sizes") {
  CHECK(variant_lender({{kBf16}, {kF16}}, kF16) == "itself");
  CHECK(variant_lender({{kBf16}, {kF16, 12, 11}}, kF16) == "cuBLASLt");
  CHECK(variant_lender({{kBf16}, {"f16/f32/ieee/tnt/64x4096x2048", 10, 30}}, kF16) == kBf16);
}

TEST_CASE("rows between those of a variant run on its kernel for more") {
  const auto rows = [](const std::string& type, int m, const std::string& epilogue = "") {
    return type + "/f32/ieee/tnt/" + std::to_string(m) + "x4096x4096" + epilogue;
  };
  const std::vector<TunedVariant> tuned = {{rows("bf16", 16)}, {rows("bf16", 64)}};
  CHECK(variant_lender(tuned, rows("bf16", 40)) == rows("bf16", 64));
  CHECK(variant_lender(tuned, rows("f16", 40)) == rows("bf16", 64));
  CHECK(variant_lender(tuned, rows("f16", 40, "/epilogue=bias")) == rows("bf16", 64));
  CHECK(variant_lender(tuned, rows("bf16", 40, "/epilogue=bias,gelu")) == rows("bf16", 64));
  CHECK(variant_lender(tuned, rows("f16", 80)) == "cuBLASLt");
  CHECK(variant_lender({{rows("bf16", 16, "/epilogue=bias")}, {rows("bf16", 64, "/epilogue=bias")}},
                       rows("f16", 40)) == rows("bf16", 64, "/epilogue=bias"));
}

TEST_CASE("kernels far ahead are lent to other sizes in the other 16-bit type, too") {
  const std::string head = "/f32/ieee/tnt/4096x50257x768";
  const std::string other = "/f32/ieee/tnt/2048x50257x768";
  CHECK(variant_lender({{"bf16" + head, 300, 600}}, "f16" + other) == "bf16" + head);
  CHECK(variant_lender({{"bf16" + head, 300, 600}, {"f16" + head, 300, 600}}, "f16" + other) ==
        "f16" + head);
}

TEST_CASE("in a program it takes cuBLAS's place, with the variant's times") {
  const Snapshot snapshot = snapshot_of_variants({{kBf16}});
  const auto found = dispatch_test::winner(snapshot, request_for(kF16), dispatch_test::target());
  REQUIRE(found.has_value());
  CHECK(found->own_us == 10);
  CHECK(found->vendor_us == 11);
  CHECK(found->choice.reason ==
        "1.10 times as fast as cuBLASLt for bf16/f32/ieee/tnt/64x4096x4096, measured on this "
        "device");
  const auto none = dispatch_test::winner(snapshot_of_variants({{kBf16, 10, 10}}),
                                          request_for(kF16), dispatch_test::target());
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == kNotTuned);
}

}  // namespace
}  // namespace gemmtune::dispatch
