#include "tuner/measure/vendor_product.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "codegen/epilogue_kernel.h"
#include "fake_vendor_fixture.h"
#include "tuner/measure/benchmark.h"

namespace gemmtune::tuner {
namespace {

constexpr int64_t kWorkspaceBytes = 1 << 20;
constexpr Arch kArch = {9, 0, false};

// Machine code as the fake driver takes it: the kernel's name.
class NameCompiler final : public jit::KernelCompiler {
 public:
  jit::NvrtcVersion version() const override { return {13, 0}; }
  Expected<void> check_arch(Arch /*arch*/) const override { return {}; }
  jit::CompileResult compile(const jit::CompileRequest& request) const override {
    if (fails || killed-- > 0) {
      jit::CompileFailure failure;
      if (!fails) failure.phase = jit::CompilePhase::process;
      failure.first_error = "no";
      return tl::unexpected(failure);
    }
    jit::CompiledKernel kernel;
    const auto bytes = std::as_bytes(std::span(request.source.name));
    kernel.cubin.assign(bytes.begin(), bytes.end());
    return kernel;
  }

  bool fails = false;
  mutable int killed = 0;  // how often, from now on
};

Problem problem_with(const Epilogue& epilogue) {
  Problem problem = make_problem({4, 5, 6});
  problem.batch = 2;
  problem.ldc = 7;
  problem.stride_c = 0;
  pack(problem);
  problem.align_bytes = 4;
  problem.epilogue = epilogue;
  return problem;
}

struct VendorProductTest : vendor_test::Vendor {
  Expected<VendorProduct> make(const Problem& problem) const {
    return VendorProduct::create(create().value(), context, compiler, kArch, problem);
  }

  // The second kernel does what it is for.
  void define_second_kernel(const Problem& problem) const {
    const codegen::EpilogueKernel kernel = codegen::epilogue_kernel(problem);
    fake.define_kernel(kernel.source.name, [problem](const fake_cuda::Launch& launch) {
      GemmArgs args;
      REQUIRE(launch.arguments.size() == sizeof(args));
      std::memcpy(&args, launch.arguments.data(), sizeof(args));
      for (int batch = 0; batch < args.batch; ++batch) {
        for (int i = 0; i < args.m; ++i) {
          for (int j = 0; j < args.n; ++j) {
            float& c = static_cast<float*>(args.c)[batch * args.stride_c + i * args.ldc + j];
            c = vendor_test::finished(problem.epilogue, static_cast<const float*>(args.bias), c, i,
                                      j);
          }
        }
      }
    });
  }

  NameCompiler compiler;
};

TEST_CASE_FIXTURE(VendorProductTest, "an epilogue that cuBLASLt lacks is a second kernel's") {
  std::mt19937 random(3);
  const auto scope = context->enter();
  for (const Epilogue& epilogue :
       {Epilogue{kBiasPerColumn, kSilu}, Epilogue{kNoBias, kGeluErf},
        Epilogue{kBiasPerRow, kNoActivation}, Epilogue{kBiasPerRow, kRelu}}) {
    const Problem problem = problem_with(epilogue);
    CAPTURE(key(problem));
    define_second_kernel(problem);
    const auto product = make(problem);
    REQUIRE(product);
    CHECK(product->describe(0).ends_with(" custom=0 + epilogue kernel"));
    auto host = vendor_test::random_operands(problem, random);
    const auto expected = vendor_test::reference(problem, host, 2, -1);
    std::vector<std::byte> workspace(kWorkspaceBytes);
    launch::Operands operands;
    operands.a = host.a.data();
    operands.b = host.b.data();
    operands.c = host.c.data();
    operands.bias = host.bias.data();
    operands.workspace = workspace.data();
    operands.alpha = 2;
    operands.beta = -1;
    const size_t before = fake.launches().size();
    REQUIRE(enqueue_vendor(*product, 0, kWorkspaceBytes)(operands, nullptr));
    CHECK(blas.last.epilogue == vendor::lt::Epilogue::none);
    CHECK(fake.launches().size() == before + 1);
    CHECK(host.c == expected);
  }
  CHECK(fake.misuses().empty());
}

TEST_CASE_FIXTURE(VendorProductTest, "an epilogue that cuBLASLt has is its own") {
  std::mt19937 random(4);
  const auto scope = context->enter();
  for (const Epilogue& epilogue :
       {Epilogue{}, Epilogue{kNoBias, kGeluTanh}, Epilogue{kBiasPerColumn, kRelu}}) {
    const Problem problem = problem_with(epilogue);
    CAPTURE(key(problem));
    const auto product = make(problem);
    REQUIRE(product);
    CHECK(product->describe(0).ends_with(" custom=0"));
    auto host = vendor_test::random_operands(problem, random);
    const auto expected = vendor_test::reference(problem, host, 1, 0);
    alignas(vendor::kBiasAlignment) float bias[8] = {};
    std::copy(host.bias.begin(), host.bias.end(), bias);
    std::vector<std::byte> workspace(kWorkspaceBytes);
    launch::Operands operands;
    operands.a = host.a.data();
    operands.b = host.b.data();
    operands.c = host.c.data();
    operands.bias = bias;
    operands.workspace = workspace.data();
    REQUIRE(product->run(0, nullptr, operands, kWorkspaceBytes));
    CHECK(host.c == expected);
  }
  CHECK(fake.launches().empty());
}

TEST_CASE_FIXTURE(VendorProductTest, "what fails is said, and no second kernel follows") {
  const Problem problem = problem_with({kNoBias, kSilu});
  define_second_kernel(problem);
  const auto product = make(problem);
  REQUIRE(product);
  const auto scope = context->enter();
  // No workspace for algorithm 1.
  CHECK(product->run(1, nullptr, {}, 0).error().kind == ErrorKind::usage);
  CHECK(fake.launches().empty());
  blas.offered = 0;
  CHECK(make(problem).error().kind == ErrorKind::unsupported);
  blas.offered = 5;
  compiler.fails = true;
  CHECK(make(problem).error().message == "compiling apply_epilogue_f32_silu_v1: no");
}

// Who waits for memory may get it; who never does has not shown that cuBLASLt cannot compute it.
TEST_CASE_FIXTURE(VendorProductTest, "a second kernel whose compilers are killed is tried thrice") {
  const Problem problem = problem_with({kNoBias, kSilu});
  compiler.killed = 2;
  CHECK(make(problem));
  compiler.killed = 3;
  CHECK(make(problem).error().kind == ErrorKind::io);
}

}  // namespace
}  // namespace gemmtune::tuner
