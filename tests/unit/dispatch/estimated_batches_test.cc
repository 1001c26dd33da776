// Batches, as attention is computed by, whose times are estimated (estimated_lead.h).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/estimated_lead.h"
#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::least_us;
using dispatch_test::request_for;
using dispatch_test::Row;

constexpr const char* kBatchTile = "tile_m=128 tile_n=64 tile_k=64 stages=4 consumers=2";

Row batch_row(const std::string& problem, double kernel_us = 6) {
  if (problem.starts_with("f32/f32/ieee"))
    return dispatch_test::compared_row(problem, kernel_us, 3, "naive", "tile_m=8 tile_n=32");
  return dispatch_test::compared_row(problem, kernel_us, 3, "wgmma_tma", kBatchTile);
}

std::vector<EstimatedLead> batch_leads(const std::vector<Row>& rows, const std::string& problem) {
  return estimated_leads(dispatch_test::snapshot_of(rows), request_for(problem),
                         dispatch_test::target(), Measured::on_this_model);
}

// Whether the first is lent to the second, if that is one that cuBLASLt's time is known for.
bool lends(const std::string& measured, const std::string& problem) {
  std::vector<Row> rows = {batch_row(measured)};
  Row vendor = batch_row(problem, 1000);
  vendor.strategy = "wgmma_stream_k";  // which is not estimated
  vendor.config = std::string(kBatchTile) + " sharing_blocks=132";
  rows.push_back(vendor);
  return !batch_leads(rows, problem).empty();
}

std::string scores(const std::string& shape, int batch) {
  return "bf16/f32/ieee/tnt/" + shape + "/batch=" + std::to_string(batch);
}

// The device has 132 SMs, and a kernel of 512x512x64 32 blocks for each of the entries.
TEST_CASE("a kernel for a batch takes as much longer as it has more waves of blocks") {
  const auto own_us = [](int batch) {
    const auto found =
        batch_leads({batch_row(scores("512x512x64", 33), 17)}, scores("512x512x64", batch));
    REQUIRE(found.size() == 1);
    return found.front().lead.own_us;
  };
  CHECK(own_us(66) == doctest::Approx(1 + 16 * 2));
  CHECK(own_us(67) == doctest::Approx(1 + 16 * 17 / 8.0));
  CHECK(own_us(34) == doctest::Approx(1 + 16 * 9 / 8.0));
}

TEST_CASE("a batch is lent kernels of those with at most four times or a quarter of its entries") {
  const std::string measured = scores("512x512x64", 96);
  CHECK(lends(measured, scores("512x512x64", 24)));
  CHECK(lends(measured, scores("512x512x64", 384)));
  CHECK_FALSE(lends(measured, scores("512x512x64", 23)));
  CHECK_FALSE(lends(measured, scores("512x512x64", 385)));
  CHECK_FALSE(lends(measured, scores("512x512x64", 1)));
  CHECK(lends(measured, scores("1024x1024x128", 96)));
  CHECK_FALSE(lends(measured, scores("1088x1088x128", 96)));
}

TEST_CASE("of batches f32 and 16 bits are estimated, but for both operands along m and k") {
  const auto is_lent = [](const std::string& kind) {
    return lends(kind + "512x64x512/batch=96", kind + "512x64x512/batch=48");
  };
  CHECK(is_lent("f32/f32/ieee/tnt/"));
  CHECK(is_lent("f32/f32/ieee/ttt/"));
  CHECK(is_lent("f32/f32/ieee/ntt/"));
  CHECK(is_lent("bf16/f32/ieee/ttt/"));
  CHECK(is_lent("f16/f32/ieee/ntt/"));
  CHECK_FALSE(is_lent("f32/f32/ieee/nnt/"));
  CHECK_FALSE(is_lent("f32/f32/tf32/tnt/"));
  CHECK_FALSE(is_lent("e4m3/f32/ieee/tnt/"));
}

TEST_CASE("rows of large results begin in lines as there, those of small ones within 16 bytes") {
  CHECK_FALSE(lends(scores("512x512x64", 96), scores("520x520x64", 96)));
  CHECK(lends(scores("520x520x64", 96), scores("536x536x64", 96)));
  const std::string values = "bf16/f32/ieee/ttt/";
  CHECK(lends(values + "512x64x512/batch=96", values + "512x80x512/batch=96"));
  CHECK_FALSE(lends(values + "512x64x512/batch=96", values + "512x66x512/batch=96"));
  CHECK_FALSE(lends(values + "512x64x512/batch=96", values + "500x64x500/batch=96"));
}

TEST_CASE("a batch's kernel has to be 3% ahead by estimates") {
  for (const std::string kind : {"bf16/f32/ieee/tnt/", "f32/f32/ieee/tnt/", "f32/f32/ieee/ttt/"}) {
    const std::string problem = kind + "128x64x64/batch=48";
    const auto lender = [&](double lead) {
      Row row = batch_row(kind + "128x64x64/batch=96");
      const auto found = batch_leads({row}, problem);
      REQUIRE(found.size() == 1);
      row.vendor_us = lead * found.front().lead.own_us * least_us(row.problem) / least_us(problem);
      return dispatch_test::lender_of(dispatch_test::snapshot_of({row}), request_for(problem));
    };
    CHECK(lender(1.04) == kind + "128x64x64/batch=96");
    CHECK(lender(1.02) == "cuBLASLt");
  }
}

}  // namespace
}  // namespace gemmtune::dispatch
