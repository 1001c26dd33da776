// The C interface with scaled 8-bit operands, against the fake driver and the fake cuBLASLt.
#include "../contains.h"
#include "library_fixture.h"

namespace gemmtune::dispatch_test {
namespace {

Problem scaled(Scale scale, const char* layout = "tnt") {
  Problem problem = make_problem({16, 32, 64}, DataType::e4m3, *parse_layout(layout));
  problem.epilogue.scale = scale;
  return problem;
}

struct ScaledOperands {
  gemmtune_operands given() const {
    gemmtune_operands operands = GEMMTUNE_OPERANDS_INIT;
    operands.alpha = operands.beta = &one;
    operands.a = operands.b = a;
    operands.c = const_cast<unsigned char*>(c);
    operands.scale_a = scales;
    operands.scale_b = scales + 32;
    return operands;
  }

  alignas(256) unsigned char a[64 * 64] = {};
  alignas(256) unsigned char c[16 * 32 * 2] = {};
  alignas(16) float scales[64] = {};
  float one = 1;
};

TEST_CASE("scales go to whichever operand is theirs") {
  const Tuning library({});
  const Handle handle = library.create();
  const ScaledOperands at;
  const gemmtune_operands operands = at.given();
  for (const char* layout : {"tnt", "tnn"}) {
    for (const Scale scale :
         {kScalePerTensor, kScalePerRow, kScale1x128, kScale1x128By128x128, kScale128x128By1x128}) {
      const gemmtune_problem c = to_c(scaled(scale, layout));
      for (int round = 0; round < 2; ++round) {  // made, then found again
        REQUIRE(gemmtune_run(handle.get(), &c, &operands, nullptr) == GEMMTUNE_STATUS_SUCCESS);
        // cuBLASLt computes the transpose of a row-major C.
        const bool swapped = c.order_c == GEMMTUNE_ROW_MAJOR;
        CHECK(library.blas.last.a_scale == (swapped ? operands.scale_b : operands.scale_a));
        CHECK(library.blas.last.b_scale == (swapped ? operands.scale_a : operands.scale_b));
        CHECK((library.blas.last.a_scale_mode == vendor::lt::ScaleMode::outer_vector) ==
              (scale == kScalePerRow));
        const auto of_squares = [](vendor::lt::ScaleMode mode) {
          return mode == vendor::lt::ScaleMode::blk128x128;
        };
        CHECK(of_squares(library.blas.last.a_scale_mode) ==
              (scale == (swapped ? kScale1x128By128x128 : kScale128x128By1x128)));
        CHECK(of_squares(library.blas.last.b_scale_mode) ==
              (scale == (swapped ? kScale128x128By1x128 : kScale1x128By128x128)));
      }
    }
  }
}

TEST_CASE("scales that are missing, not wanted or not aligned are refused") {
  const Tuning library({});
  const Handle handle = library.create();
  const ScaledOperands at;
  const gemmtune_problem with = to_c(scaled(kScalePerRow));
  const gemmtune_problem without = to_c(scaled(kNoScale));
  const auto refused = [&](const gemmtune_problem& problem, const gemmtune_operands& operands,
                           const char* why) {
    CHECK(gemmtune_run(handle.get(), &problem, &operands, nullptr) ==
          GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), why));
  };
  gemmtune_operands operands = at.given();
  refused(without, operands, "gemmtune_problem.scale is GEMMTUNE_SCALE_NONE");
  operands.scale_b = nullptr;
  refused(with, operands, "a scale is a null pointer");
  operands.scale_b = reinterpret_cast<const float*>(at.c + 2);
  refused(with, operands, "a scale is not aligned to 4 bytes");
  operands.scale_b = operands.scale_a + 1;
  CHECK(gemmtune_run(handle.get(), &with, &operands, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  refused(to_c(scaled(kScale1x128)), operands, "a scale is not aligned to 16 bytes");
  operands = at.given();
  operands.struct_bytes = offsetof(gemmtune_operands, scale_a);  // of an older header
  refused(with, operands, "a scale is a null pointer");
  CHECK(gemmtune_run(handle.get(), &without, &operands, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(gemmtune_gemm(handle.get(), &with, &at.one, at.a, at.a, &at.one,
                      const_cast<unsigned char*>(at.c), nullptr, 0,
                      nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "call gemmtune_run"));
}

TEST_CASE("what says nothing of scales is refused by name, and an older header has none") {
  const Tuning library({});
  const Handle handle = library.create();
  gemmtune_problem c = to_c(scaled(kScalePerTensor));
  c.scale = 6;
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "scale is 6"));
  c.struct_bytes = offsetof(gemmtune_problem, scale);
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  c = to_c(scaled(kScalePerTensor));
  c.reserved_scale = 1;
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  c = to_c(make_problem({8, 8, 8}));
  c.scale = GEMMTUNE_SCALE_PER_TENSOR;
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "for e4m3 and e5m2 operands only"));
  c = to_c(scaled(kScale1x128By128x128));
  c.math = GEMMTUNE_MATH_FAST_ACCUM;
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "which fast_accum does not have"));
}

}  // namespace
}  // namespace gemmtune::dispatch_test
