#include "vendor/cublaslt.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstring>

#include "fake_vendor_fixture.h"
#include "gpu/memory.h"
#include "gpu/stream.h"
#include "vendor/cublaslt_internal.h"

using namespace gemmtune;          // NOLINT(google-build-using-namespace)
using namespace gemmtune::vendor;  // NOLINT(google-build-using-namespace)
using vendor_test::args_of;
using vendor_test::Vendor;

TEST_CASE("a missing library is reported with every name that was tried") {
  const auto library = CublasLtLibrary::load({"libcublasLt-nowhere.so.13", "libcublasLt-no.so"});
  REQUIRE_FALSE(library);
  CHECK(library.error().kind == ErrorKind::unsupported);
  CHECK(library.error().message ==
        "no cuBLASLt: libcublasLt-nowhere.so.13 not found; libcublasLt-no.so not found");
  CHECK_FALSE(CublasLtLibrary::load({}));
}

TEST_CASE("a library that is not cuBLASLt is told by a missing symbol") {
  const auto library = CublasLtLibrary::load({"libcublasLt-nowhere.so.13", "libm.so.6"});
  REQUIRE_FALSE(library);
  CHECK(library.error().message == "no cuBLASLt: libm.so.6 has no cublasLtGetVersion");
}

TEST_CASE("a library that the process has loaded comes before others") {
  const Vendor vendor;  // has loaded the fake one
  REQUIRE(dlopen("libutil.so.1", RTLD_NOW | RTLD_NOLOAD) == nullptr);
  const auto library = CublasLtLibrary::load({"libutil.so.1", GEMMTUNE_FAKE_CUBLASLT});
  REQUIRE(library);
  CHECK((*library)->name() == GEMMTUNE_FAKE_CUBLASLT);
}

TEST_CASE("version and name of what was opened") {
  const auto library = CublasLtLibrary::load({"libnowhere.so", GEMMTUNE_FAKE_CUBLASLT}).value();
  CHECK(library->version() == 130099);
  CHECK(library->name() == GEMMTUNE_FAKE_CUBLASLT);
  CHECK(CublasLtLibrary::default_names().front() == "libcublasLt.so.13");
}

TEST_CASE("plans compute the problem, for all layouts") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  std::mt19937 random(5);
  const auto scope = vendor.context->enter();
  for (const Layout layout : vendor_test::all_layouts()) {
    CAPTURE(to_string(layout));
    for (int round = 0; round < 20; ++round) {
      const Problem problem = vendor_test::random_problem(layout, random);
      auto operands = vendor_test::random_operands(problem, random);
      const float beta = round % 2 == 0 ? 0.0F : -2.0F;
      const auto expected = vendor_test::reference(problem, operands, 3, beta);
      const auto plan = cublas.plan(problem).value();
      REQUIRE(plan.run(0, nullptr, args_of(operands, 3, beta)));
      CHECK(operands.c == expected);
    }
  }
  CHECK(vendor.blas.misuses == 0);
}

TEST_CASE("the heuristic is asked as documented, and unusable answers are dropped") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  Problem problem = make_problem({8, 8, 8});
  problem.align_bytes = 4;
  vendor.blas.offered = 100;
  const auto plan = cublas.plan(problem).value();
  CHECK(plan.algorithms() == 64 - 21);  // of 64, numbers 1, 4, 7 ... 61 are unusable
  CHECK(vendor.blas.max_workspace_bytes == uint64_t{64} << 20);
  for (const unsigned alignment : vendor.blas.alignment) CHECK(alignment == 4);
  CHECK(plan.workspace_bytes(0) == 0);
  CHECK(plan.workspace_bytes(1) == 2048);
  CHECK(plan.max_workspace_bytes() == 63 * 1024);
  CHECK(plan.describe(1) ==
        "algo=2 tile=128x256 stages=64x4 cluster=2x1x1 splitk=2 reduction=0 swizzle=0 custom=0");
  CHECK(plan.describe(99) == "no such algorithm");
  PlanOptions options;
  options.max_algorithms = 1;
  options.max_workspace_bytes = 0;
  CHECK(cublas.plan(problem, options).value().algorithms() == 1);
  CHECK(vendor.blas.max_workspace_bytes == 0);
}

TEST_CASE("an algorithm is found again by its description") {
  const Vendor vendor;
  const auto plan = vendor.create().value().plan(make_problem({8, 8, 8})).value();
  REQUIRE(plan.algorithms() > 2);
  for (int i = 0; i < plan.algorithms(); ++i) CHECK(plan.find(plan.describe(i)) == i);
  CHECK(plan.find("algo=99 tile=auto") == -1);
  CHECK(plan.find("") == -1);
}

TEST_CASE("scalars in device memory are handed on as they are") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  const Problem problem = make_problem({3, 4, 5});
  std::mt19937 random(8);
  auto operands = vendor_test::random_operands(problem, random);
  const auto expected = vendor_test::reference(problem, operands, 3, -2);
  PlanOptions options;
  options.device_scalars = true;
  const auto plan = cublas.plan(problem, options).value();
  const float alpha = 3;
  const float beta = -2;
  MatmulArgs args = args_of(operands, 99, 99);
  args.alpha_device = &alpha;
  args.beta_device = &beta;
  const auto scope = vendor.context->enter();
  REQUIRE(plan.run(0, nullptr, args));
  CHECK(operands.c == expected);
  CHECK(vendor.blas.last.pointer_mode == lt::PointerMode::device);
  REQUIRE(cublas.plan(problem).value().run(0, nullptr, args_of(operands, 1, 0)));
  CHECK(vendor.blas.last.pointer_mode == lt::PointerMode::host);

  Problem half = make_problem({8, 8, 8}, DataType::f16);
  half.accumulator = DataType::f16;
  CHECK(cublas.plan(half, options).error().kind == ErrorKind::unsupported);
  CHECK(cublas.plan(half));
}

TEST_CASE("no algorithm and an invalid problem are errors of their kind") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  vendor.blas.offered = 0;
  CHECK(cublas.plan(make_problem({8, 8, 8})).error().kind == ErrorKind::unsupported);
  vendor.blas.fail = "cublasLtMatmulAlgoGetHeuristic";
  const auto refused = cublas.plan(make_problem({8, 8, 8}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unsupported);
  CHECK(refused.error().message ==
        "cuBLASLt: choosing an algorithm failed: CUBLAS_STATUS_NOT_SUPPORTED");
  Problem invalid = make_problem({8, 8, 8});
  invalid.lda = 3;
  CHECK(cublas.plan(invalid).error().kind == ErrorKind::usage);
}

TEST_CASE("a run is refused without its workspace, algorithm or context") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  const Problem problem = make_problem({2, 2, 2});
  std::mt19937 random(6);
  auto operands = vendor_test::random_operands(problem, random);
  const auto plan = cublas.plan(problem).value();
  MatmulArgs args = args_of(operands, 1, 0);
  CHECK(plan.run(-1, nullptr, args).error().kind == ErrorKind::usage);
  CHECK(plan.run(plan.algorithms(), nullptr, args).error().kind == ErrorKind::usage);
  CHECK(plan.run(1, nullptr, args).error().kind == ErrorKind::usage);
  args.workspace_bytes = 4096;
  CHECK(plan.run(1, nullptr, args).error().kind == ErrorKind::usage);  // null
  std::vector<std::byte> workspace(4096);
  args.workspace = workspace.data();
  REQUIRE(plan.run(1, nullptr, args));
  CHECK(vendor.blas.last.algorithm == 2);
  CHECK(vendor.blas.last.workspace == workspace.data());
  CHECK(vendor.blas.last.workspace_bytes == 2048);  // what it asked for, not all there is
  vendor.blas.fail = "cublasLtMatmul";
  CHECK(plan.run(0, nullptr, args).error().kind == ErrorKind::failed);
  REQUIRE(vendor.context->reset());
  CHECK(plan.run(0, nullptr, args).error().context_lost());
}

TEST_CASE("sums of 8-bit operands are fast where that was asked for, and two e5m2 are refused") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  Problem problem = make_problem({16, 16, 32}, DataType::e4m3, *parse_layout("tnt"));
  for (const MathMode math : {MathMode::ieee, MathMode::fast_accum}) {
    problem.math = math;
    const auto plan = cublas.plan(problem).value();
    REQUIRE(plan.run(0, nullptr, {}));
    CHECK(vendor.blas.last.operands == lt::ElementType::e4m3);
    CHECK(vendor.blas.last.result == lt::ElementType::bf16);
    CHECK(vendor.blas.last.fast_sums == (math == MathMode::fast_accum ? 1 : 0));
  }
  problem.type = DataType::e5m2;
  const auto refused = cublas.plan(problem);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unsupported);
}

TEST_CASE("sums of integers take integer scalars, which are not in device memory as f32") {
  const Vendor vendor;
  const auto cublas = vendor.create().value();
  const Problem problem = make_problem({16, 16, 32}, DataType::i8, *parse_layout("tnt"));
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::i8, lt::ElementType::i32,
                                             lt::ComputeType::i32, lt::ElementType::i32});
  const auto plan = cublas.plan(problem).value();
  MatmulArgs args;
  args.alpha = 3;
  args.beta = -1;
  REQUIRE(plan.run(0, nullptr, args));
  CHECK(vendor.blas.last.operands == lt::ElementType::i8);
  CHECK(vendor.blas.last.result == lt::ElementType::i32);
  CHECK(vendor.blas.last.compute == lt::ComputeType::i32);
  CHECK(std::memcmp(vendor.blas.last.alpha, "\x03\x00\x00\x00", 4) == 0);
  CHECK(std::memcmp(vendor.blas.last.beta, "\xff\xff\xff\xff", 4) == 0);
  PlanOptions options;
  options.device_scalars = true;
  const auto refused = cublas.plan(problem, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unsupported);
}

TEST_CASE("types, math modes and scalars") {
  Problem problem = make_problem({8, 8, 8});
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::f32, lt::ElementType::f32,
                                             lt::ComputeType::f32, lt::ElementType::f32});
  problem.math = MathMode::tf32;
  CHECK(matmul_types(problem).compute == lt::ComputeType::f32_fast_tf32);
  problem.math = MathMode::tf32x3;
  CHECK(matmul_types(problem).compute == lt::ComputeType::f32);
  problem.math = MathMode::f16;
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::f32, lt::ElementType::f32,
                                             lt::ComputeType::f32_fast_f16, lt::ElementType::f32});
  problem = make_problem({8, 8, 8}, DataType::bf16);
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::bf16, lt::ElementType::bf16,
                                             lt::ComputeType::f32, lt::ElementType::f32});
  problem = make_problem({8, 8, 8}, DataType::f16);
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::f16, lt::ElementType::f16,
                                             lt::ComputeType::f32, lt::ElementType::f32});
  problem.accumulator = DataType::f16;
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::f16, lt::ElementType::f16,
                                             lt::ComputeType::f16, lt::ElementType::f16});
  problem = make_problem({8, 8, 8}, DataType::e4m3, *parse_layout("tnt"));
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::e4m3, lt::ElementType::bf16,
                                             lt::ComputeType::f32, lt::ElementType::f32});
  problem.math = MathMode::fast_accum;
  problem.result = DataType::f32;
  CHECK(matmul_types(problem) == MatmulTypes{lt::ElementType::e4m3, lt::ElementType::f32,
                                             lt::ComputeType::f32, lt::ElementType::f32, true});
  CHECK(check_types(problem));
  problem.type = DataType::e5m2;
  CHECK(matmul_types(problem).operand == lt::ElementType::e5m2);
  CHECK(check_types(problem).error().kind == ErrorKind::unsupported);
  problem = make_problem({8, 8, 8}, DataType::f16);
  problem.accumulator = DataType::f16;

  // f16 sums take f16 scalars.
  const Vendor vendor;
  const auto plan = vendor.create().value().plan(problem).value();
  MatmulArgs args;
  args.alpha = 1.0F;
  args.beta = -2.0F;
  REQUIRE(plan.run(0, nullptr, args));
  CHECK(vendor.blas.last.compute == lt::ComputeType::f16);
  CHECK(vendor.blas.last.scale == lt::ElementType::f16);
  CHECK(std::memcmp(vendor.blas.last.alpha, "\x00\x3c", 2) == 0);
  CHECK(std::memcmp(vendor.blas.last.beta, "\x00\xc0", 2) == 0);
}

TEST_CASE("whatever call fails, no handle or descriptor leaks") {
  const char* functions[] = {"cublasLtCreate",
                             "cublasLtMatmulDescCreate",
                             "cublasLtMatmulDescSetAttribute",
                             "cublasLtMatrixLayoutCreate",
                             "cublasLtMatrixLayoutSetAttribute",
                             "cublasLtMatmulPreferenceCreate",
                             "cublasLtMatmulPreferenceSetAttribute",
                             "cublasLtMatmulAlgoGetHeuristic"};
  for (const char* function : functions) {
    // Calls of it: until it no longer fails.
    for (int skip = 0;; ++skip) {
      CAPTURE(function);
      CAPTURE(skip);
      const Vendor vendor;
      vendor.blas.fail = function;
      vendor.blas.skip = skip;
      bool made = false;
      if (auto cublas = vendor.create()) made = cublas->plan(make_problem({4, 4, 4})).has_value();
      CHECK(vendor.blas.live == 0);
      CHECK(vendor.blas.misuses == 0);
      if (made) {
        CHECK(skip > 0);
        break;
      }
    }
  }
}

TEST_CASE("plans keep the handle alive, and a lost context is not touched") {
  const Vendor vendor;
  {
    std::unique_ptr<MatmulPlan> plan;
    {
      const auto cublas = vendor.create().value();
      plan = std::make_unique<MatmulPlan>(cublas.plan(make_problem({4, 4, 4})).value());
    }
    CHECK(vendor.blas.live > 1);
    plan.reset();
    CHECK(vendor.blas.live == 0);
  }
  {
    const auto cublas = vendor.create().value();
    const auto plan = cublas.plan(make_problem({4, 4, 4})).value();
    REQUIRE(vendor.context->reset());
    CHECK_FALSE(cublas.plan(make_problem({4, 4, 4})));
  }
  CHECK(vendor.blas.live == 1);  // the handle, whose device state is gone
}
