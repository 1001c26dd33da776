#include "dispatch/request.h"

#include <functional>

#include "c_problem.h"
#include "library_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::whole;

using dispatch_test::to_c;

TEST_CASE("a problem of the C interface becomes the comparable one, whatever its layout") {
  std::mt19937 random(1);
  for (const Layout layout : vendor_test::all_layouts()) {
    for (int i = 0; i < 50; ++i) {
      const Problem problem = vendor_test::random_problem(layout, random);
      const auto request = parse_request(to_c(problem, i % 2 == 0));
      REQUIRE(request);
      CHECK(request->problem == comparable(problem));
      CHECK(request->problem.layout.c == Order::row_major);
      CHECK(request->operands_swapped == (layout.c == Order::column_major));
      CHECK(request->device_scalars == (i % 2 == 0));
    }
  }
}

TEST_CASE("packed means what pack() means; a stride of 0 is a stride") {
  for (const Layout layout : vendor_test::all_layouts()) {
    gemmtune_problem c = GEMMTUNE_PROBLEM_INIT;
    c.order_a = static_cast<int32_t>(layout.a);
    c.order_b = static_cast<int32_t>(layout.b);
    c.order_c = static_cast<int32_t>(layout.c);
    c.m = 5;
    c.n = 7;
    c.k = 11;
    CHECK(parse_request(c)->problem == comparable(make_problem({5, 7, 11}, DataType::f32, layout)));
    c.batch = 3;
    c.lda = 20;
    Problem batched = make_problem({5, 7, 11}, DataType::f32, layout);
    batched.lda = 20;
    batched.batch = 3;
    pack(batched);
    CHECK(parse_request(c)->problem == comparable(batched));
    c.stride_a = 0;
    batched.stride_a = 0;
    CHECK(parse_request(c)->problem == comparable(batched));
    c.stride_c = 0;
    CHECK_FALSE(parse_request(c));
  }
}

TEST_CASE("a packed request is what the long way makes of the problem, or nothing") {
  std::mt19937 random(23);
  const auto size = [&] {
    const int64_t sizes[] = {0, 1, 7, 4096, 1 << 20, (1 << 20) + 1, -5};
    return sizes[random() % 7];
  };
  int packed_ones = 0;
  for (int i = 0; i < 50000; ++i) {
    gemmtune_problem c = GEMMTUNE_PROBLEM_INIT;
    c.m = size();
    c.n = size();
    c.k = size();
    c.order_a = static_cast<int32_t>(random() % 2);
    c.order_b = static_cast<int32_t>(random() % 2);
    c.scalars = static_cast<int32_t>(random() % 2);
    c.align_bytes = 1U << random() % 14;
    // One field off what is usual, legal or not.
    const auto odd = static_cast<int32_t>(random() % 4) - 1;
    int32_t* const fields[] = {&c.type,    &c.accumulator, &c.math, &c.order_c,
                               &c.order_a, &c.result_type, &c.bias, &c.activation};
    if (random() % 2 == 0) *fields[random() % std::size(fields)] = odd;
    int64_t* const wide[] = {&c.lda, &c.ldb, &c.ldc, &c.batch, &c.stride_a};
    if (random() % 4 == 0) *wide[random() % 5] = odd * 1000;
    const auto packed = packed_request(c);
    if (!packed) continue;
    ++packed_ones;
    const auto request = parse_request(c);
    REQUIRE(request);
    CHECK(whole(packed->problem) == request->problem);
    CHECK(packed->device_scalars == request->device_scalars);
    CHECK_FALSE(request->operands_swapped);
  }
  CHECK(packed_ones > 1000);
}

TEST_CASE("an epilogue is of the problem as it is computed; a result like the operands is none") {
  Problem problem = make_problem({5, 7, 11}, DataType::f16, *parse_layout("ttn"));
  problem.epilogue = {kBiasPerRow, kSilu};
  problem.result = DataType::f32;
  const auto request = parse_request(to_c(problem));
  REQUIRE(request);
  CHECK(request->problem.epilogue == Epilogue{kBiasPerColumn, kSilu});
  CHECK(request->problem.result == DataType::f32);
  problem.result = DataType::f16;
  CHECK_FALSE(parse_request(to_c(problem))->problem.result.has_value());
}

TEST_CASE("8-bit operands have a C of bf16 unless another is asked for") {
  Problem problem = make_problem({16, 32, 64}, DataType::e4m3, *parse_layout("tnn"));
  problem.math = MathMode::fast_accum;
  auto request = parse_request(to_c(problem));
  REQUIRE(request);
  CHECK(request->problem.type == DataType::e4m3);
  CHECK(request->problem.math == MathMode::fast_accum);
  CHECK(request->problem.layout == *parse_layout("tnt"));
  CHECK_FALSE(request->problem.result.has_value());
  problem.result = DataType::bf16;
  CHECK_FALSE(parse_request(to_c(problem))->problem.result.has_value());
  problem.result = DataType::f16;
  CHECK(parse_request(to_c(problem))->problem.result == DataType::f16);
  CHECK_FALSE(parse_request(to_c(make_problem({16, 32, 64}, DataType::e5m2))));
}

TEST_CASE("integers have sums and a C of i32") {
  gemmtune_problem c = to_c(make_problem({16, 32, 64}, DataType::i8, *parse_layout("tnt")));
  CHECK(c.accumulator == GEMMTUNE_I32);
  const auto request = parse_request(c);
  REQUIRE(request);
  CHECK(request->problem.accumulator == DataType::i32);
  CHECK(result_type(request->problem) == DataType::i32);
  c.accumulator = GEMMTUNE_F32;
  CHECK_FALSE(parse_request(c));
  c.accumulator = GEMMTUNE_I32;
  c.result_type = GEMMTUNE_RESULT_F32;
  CHECK_FALSE(parse_request(c));
  CHECK_FALSE(parse_request(to_c(make_problem({16, 32, 64}, DataType::i32))));
}

TEST_CASE("what makes no difference to a kernel makes no other problem") {
  Problem problem = make_problem({16, 16, 16});
  problem.stride_a = 77;
  Problem plain = make_problem({16, 16, 16});
  CHECK(comparable(problem) == plain);
  problem = plain;
  problem.align_bytes = 256;
  CHECK(comparable(problem) == plain);
  problem.align_bytes = 8;
  CHECK_FALSE(comparable(problem) == plain);
}

TEST_CASE("whatever is in the structure: a problem, or an error that names the field") {
  std::mt19937_64 random(2);
  const auto wild = [&]() -> int64_t {
    switch (random() % 6) {
      case 0:
        return static_cast<int64_t>(random());
      case 1:
        return INT64_MAX;
      case 2:
        return INT64_MIN;
      case 3:
        return -1;
      default:
        return static_cast<int64_t>(random() % 40) - 2;
    }
  };
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    gemmtune_problem c = GEMMTUNE_PROBLEM_INIT;
    c.m = c.n = c.k = 8;
    int64_t* const wide[] = {&c.m,   &c.n,     &c.k,        &c.lda,      &c.ldb,
                             &c.ldc, &c.batch, &c.stride_a, &c.stride_b, &c.stride_c};
    int32_t* const narrow[] = {&c.type,    &c.accumulator, &c.math,    &c.order_a,
                               &c.order_b, &c.order_c,     &c.scalars, &c.result_type,
                               &c.bias,    &c.activation};
    for (int changes = 0; changes <= round % 4; ++changes) {
      switch (random() % 4) {
        case 0:
          *narrow[random() % std::size(narrow)] = static_cast<int32_t>(wild());
          break;
        case 1:
          c.align_bytes = static_cast<uint32_t>(random() % 2 == 0 ? 1U << (random() % 32) : wild());
          break;
        default:
          *wide[random() % std::size(wide)] = wild();
      }
    }
    const auto request = parse_request(c);
    if (request) {
      ++accepted;
      REQUIRE(validate(request->problem));
      REQUIRE(request->problem == comparable(request->problem));
    } else {
      REQUIRE(request.error().status == GEMMTUNE_STATUS_INVALID_ARGUMENT);
      REQUIRE(request.error().message.starts_with("gemmtune_problem: "));
    }
  }
  CHECK(accepted > 10000);
}

}  // namespace
}  // namespace gemmtune::dispatch
