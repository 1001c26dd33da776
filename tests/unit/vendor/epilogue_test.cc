// What cuBLASLt is asked for where a problem has an epilogue, or a C of another type.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "fake_vendor_fixture.h"
#include "vendor/cublaslt_internal.h"

using namespace gemmtune;          // NOLINT(google-build-using-namespace)
using namespace gemmtune::vendor;  // NOLINT(google-build-using-namespace)
using vendor_test::args_of;
using vendor_test::Vendor;

namespace {

// The operands that a plan needs a place for, with a bias that is aligned as cuBLASLt wants it.
struct WithBias {
  WithBias(const Problem& problem, std::mt19937& random)
      : operands(vendor_test::random_operands(problem, random)) {
    REQUIRE(operands.bias.size() <= std::size(bias));
    std::copy(operands.bias.begin(), operands.bias.end(), bias);
  }

  vendor_test::Operands operands;
  alignas(kBiasAlignment) float bias[64] = {};
};

Problem with(Epilogue epilogue, Layout layout = {}) {
  Problem problem = make_problem({4, 5, 6}, DataType::f32, layout);
  problem.epilogue = epilogue;
  return problem;
}

}  // namespace

TEST_CASE("epilogues have cuBLASLt's names, or it has none of the kind") {
  const Layout column_major = parse_layout("ttn").value();
  CHECK(*matmul_epilogue(with({})) == lt::Epilogue::none);
  CHECK(*matmul_epilogue(with({kNoBias, kRelu})) == lt::Epilogue::relu);
  CHECK(*matmul_epilogue(with({kNoBias, kGeluTanh})) == lt::Epilogue::gelu);
  CHECK(*matmul_epilogue(with({kBiasPerColumn, kNoActivation})) == lt::Epilogue::bias);
  CHECK(*matmul_epilogue(with({kBiasPerColumn, kRelu})) == lt::Epilogue::relu_bias);
  CHECK(*matmul_epilogue(with({kBiasPerColumn, kGeluTanh})) == lt::Epilogue::gelu_bias);
  CHECK(*matmul_epilogue(with({kBiasPerRow, kRelu}, column_major)) == lt::Epilogue::relu_bias);
  for (const Problem& problem :
       {with({kNoBias, kSilu}), with({kBiasPerColumn, kGeluErf}),
        with({kBiasPerRow, kNoActivation}), with({kBiasPerColumn, kRelu}, column_major)}) {
    CAPTURE(key(problem));
    const auto refused = check_epilogue(problem);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::unsupported);
    const Vendor vendor;
    const auto plan = vendor.create().value().plan(problem);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().kind == ErrorKind::unsupported);
    CHECK(plan.error().message == refused.error().message);
  }
  CHECK(check_epilogue(with({kNoBias, kSilu})).error().message == "cuBLASLt has no epilogue silu");
}

TEST_CASE("a bias and an activation are computed, in every layout and with batches") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  std::mt19937 random(21);
  const auto scope = vendor.context->enter();
  for (const Layout layout : vendor_test::all_layouts()) {
    for (const Activation activation : {kNoActivation, kRelu, kGeluTanh}) {
      Problem problem = vendor_test::random_problem(layout, random);
      problem.epilogue = {layout.c == Order::row_major ? kBiasPerColumn : kBiasPerRow, activation};
      CAPTURE(key(problem));
      WithBias host(problem, random);
      const auto expected = vendor_test::reference(problem, host.operands, 2, -1);
      MatmulArgs args = args_of(host.operands, 2, -1);
      args.bias = host.bias;
      REQUIRE(cublas.plan(problem).value().run(0, nullptr, args));
      CHECK(host.operands.c == expected);
    }
  }
}

TEST_CASE("the heuristic sees a bias of the alignment that runs are held to") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  std::mt19937 random(22);
  const Problem problem = with({kBiasPerColumn, kGeluTanh});
  const auto plan = cublas.plan(problem).value();
  CHECK(reinterpret_cast<uintptr_t>(vendor.blas.heuristic_bias) == kBiasAlignment);
  WithBias host(problem, random);
  MatmulArgs args = args_of(host.operands, 1, 0);
  const auto scope = vendor.context->enter();
  CHECK(plan.run(0, nullptr, args).error().kind == ErrorKind::usage);
  args.bias = host.bias + 1;
  CHECK(plan.run(0, nullptr, args).error().kind == ErrorKind::usage);
  CHECK(vendor.blas.calls == 0);
  for (const int start : {0, 4, 0}) {
    args.bias = host.bias + start;
    REQUIRE(plan.run(0, nullptr, args));
    CHECK(vendor.blas.last.bias == host.bias + start);
    CHECK(vendor.blas.last.epilogue == lt::Epilogue::gelu_bias);
  }
  // A failure to describe one bias is none of the next call.
  vendor.blas.fail = "cublasLtMatmulDescSetAttribute";
  args.bias = host.bias + 8;
  CHECK_FALSE(plan.run(0, nullptr, args));
  REQUIRE(plan.run(0, nullptr, args));
  CHECK(vendor.blas.last.bias == host.bias + 8);
}

TEST_CASE("cuBLASLt's bias of 8-bit operands is bf16 or f16") {
  Problem problem = make_problem({16, 16, 32}, DataType::e4m3, *parse_layout("tnt"));
  problem.epilogue = {kBiasPerColumn, kNoActivation};
  CHECK(check_epilogue(problem));
  problem.result = DataType::f16;
  CHECK(check_epilogue(problem));
  problem.result = DataType::f32;
  CHECK_FALSE(check_epilogue(problem));
  problem.epilogue.bias = kNoBias;
  CHECK(check_epilogue(problem));
}

struct ScaleCase {
  Scale scale;
  lt::ScaleMode of_a;
  lt::ScaleMode of_b;
};

constexpr ScaleCase kScaleCases[] = {
    {kScalePerTensor, lt::ScaleMode::scalar, lt::ScaleMode::scalar},
    {kScalePerRow, lt::ScaleMode::outer_vector, lt::ScaleMode::outer_vector},
    {kScale1x128, lt::ScaleMode::vec128, lt::ScaleMode::vec128},
    {kScale1x128By128x128, lt::ScaleMode::vec128, lt::ScaleMode::blk128x128},
    {kScale128x128By1x128, lt::ScaleMode::blk128x128, lt::ScaleMode::vec128}};

TEST_CASE("8-bit operands are scaled, by what each call says") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  const auto scope = vendor.context->enter();
  Problem problem = make_problem({16, 16, 32}, DataType::e4m3, *parse_layout("tnt"));
  const float scales[4] = {};
  for (const bool swapped : {true, false}) {
    problem.layout.c = swapped ? Order::row_major : Order::column_major;
    for (const ScaleCase& test : kScaleCases) {
      problem.epilogue.scale = test.scale;
      const auto plan = cublas.plan(problem).value();
      MatmulArgs args;
      CHECK(plan.run(0, nullptr, args).error().kind == ErrorKind::usage);
      for (const float* at : {&scales[0], &scales[2]}) {
        args.scale_a = at;
        args.scale_b = at + 1;
        REQUIRE(plan.run(0, nullptr, args));
        // cuBLASLt computes the transpose of a row-major C.
        CHECK(vendor.blas.last.a_scale == (swapped ? args.scale_b : args.scale_a));
        CHECK(vendor.blas.last.b_scale == (swapped ? args.scale_a : args.scale_b));
        CHECK(vendor.blas.last.a_scale_mode == (swapped ? test.of_b : test.of_a));
        CHECK(vendor.blas.last.b_scale_mode == (swapped ? test.of_a : test.of_b));
      }
    }
  }
  vendor.blas.has_scales_of_rows = false;
  const auto refused = cublas.plan(problem);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unsupported);
  problem.epilogue.scale = kScalePerTensor;
  CHECK(cublas.plan(problem));
}

TEST_CASE("C and the bias may have another type than A and B") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  Problem problem = make_problem({8, 8, 8}, DataType::bf16);
  problem.result = DataType::f32;
  problem.epilogue = {kBiasPerColumn, kNoActivation};
  problem.align_bytes = 4;
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::bf16, lt::ElementType::f32,
                                             lt::ComputeType::f32, lt::ElementType::f32});
  const auto plan = cublas.plan(problem).value();
  alignas(kBiasAlignment) float bias[8] = {};
  MatmulArgs args;
  args.bias = bias;
  REQUIRE(plan.run(0, nullptr, args));
  CHECK(vendor.blas.last.operands == lt::ElementType::bf16);
  CHECK(vendor.blas.last.result == lt::ElementType::f32);
  CHECK(vendor.blas.last.bias_type == lt::ElementType::f32);
  problem.result.reset();
  REQUIRE(cublas.plan(problem).value().run(0, nullptr, args));
  CHECK(vendor.blas.last.result == lt::ElementType::bf16);
  CHECK(vendor.blas.last.bias_type == lt::ElementType::bf16);
}

TEST_CASE("threads run one plan, each with a bias of its own") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  const Problem problem = with({kBiasPerColumn, kRelu});
  const auto plan = cublas.plan(problem).value();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t <= 8; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        const auto scope = vendor.context->enter();
        for (int round = 0; round < 50; ++round) {
          WithBias host(problem, random);
          const auto expected = vendor_test::reference(problem, host.operands, 1, 1);
          MatmulArgs args = args_of(host.operands, 1, 1);
          args.bias = host.bias;
          if (!plan.run(0, nullptr, args) || host.operands.c != expected) ++wrong;
        }
      });
    }
  }
  CHECK(wrong == 0);
}
