// cuBLAS's calls, computed by the tree's real kernels: what `gemm-tune run` launches for a call is
// executed on the simulator, and the program's memory compared with what the call asks for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "../unit/test_folder.h"
#include "codegen/emitter.h"
#include "fake_calls.h"
#include "jit/compiler.h"
#include "ptxsim/machine/simulator.h"
#include "real_nvrtc.h"
#include "run_calls.h"

namespace gemmtune::cublas_preload {
namespace {

// The program's matrices: what a kernel may touch, by where they begin.
std::map<const void*, size_t>& matrices() {
  static std::map<const void*, size_t> known;
  return known;
}

const jit::Compiler& compiler() {
  static const TestFolder folder;
  static const jit::Compiler made(jit::real_nvrtc(),
                                  std::make_shared<jit::CubinCache>(folder.path()));
  return made;
}

// A matrix of the program in simulated memory, while a kernel runs.
class Mirror {
 public:
  Mirror(ptxsim::GlobalMemory& memory, const void* at) : memory_(memory), at_(at) {
    if (at == nullptr) return;
    const auto found = matrices().find(at);
    REQUIRE(found != matrices().end());
    bytes_ = found->second;
    address_ = memory.allocate(bytes_, 256, "matrix").value();
    REQUIRE(memory.write(address_, std::span(static_cast<const std::byte*>(at), bytes_)));
  }
  void* simulated() const { return reinterpret_cast<void*>(address_); }
  void copy_back() const {
    REQUIRE(
        memory_.read(address_, std::span(static_cast<std::byte*>(const_cast<void*>(at_)), bytes_)));
  }

 private:
  ptxsim::GlobalMemory& memory_;
  const void* at_;
  size_t bytes_ = 0;
  uint64_t address_ = 0;
};

void simulate(const ptxsim::Program& program, const fake_cuda::Launch& launch) {
  GemmArgs args;
  REQUIRE(launch.arguments.size() == sizeof args);
  std::memcpy(&args, launch.arguments.data(), sizeof args);
  REQUIRE(args.workspace == nullptr);
  ptxsim::GlobalMemory memory;
  const Mirror a(memory, args.a);
  const Mirror b(memory, args.b);
  const Mirror c(memory, args.c);
  const Mirror bias(memory, args.bias);
  args.a = a.simulated();
  args.b = b.simulated();
  args.c = c.simulated();
  args.bias = bias.simulated();
  LaunchConfig config;
  config.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  config.block = {launch.block[0], launch.block[1], launch.block[2]};
  config.dynamic_smem_bytes = static_cast<int>(launch.dynamic_smem_bytes);
  const auto ran = ptxsim::run(program, config, {ptxsim::argument(args)}, memory);
  REQUIRE_MESSAGE(ran.has_value(), ran.error().message);
  REQUIRE_MESSAGE(ran->findings.empty(), ptxsim::to_string(ran->findings.front()));
  c.copy_back();
}

// Has the fake driver execute the kernel's PTX.
void define_real_kernel(fake_cuda::FakeCuda& fake, const codegen::KernelSpec& spec) {
  const codegen::KernelSource source = codegen::emit(spec);
  const auto compiled = compiler().compile_to_ptx({source, spec.arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().first_error);
  const auto module = ptxsim::parse(compiled->ptx, source.name);
  REQUIRE_MESSAGE(module.has_value(), module.error().message);
  auto program = ptxsim::decode(*module, source.entries.front());
  REQUIRE_MESSAGE(program.has_value(), program.error().message);
  fake.define_kernel(source.entries.front(),
                     [program = std::make_shared<ptxsim::Program>(*std::move(program))](
                         const fake_cuda::Launch& launch) { simulate(*program, launch); });
}

Call call_of(Way way, bool transpose_a, bool transpose_b, DataType type) {
  Call call;
  call.way = way;
  call.transpose_a = transpose_a;
  call.transpose_b = transpose_b;
  call.type = call.result = type;
  call.m = 37;
  call.n = 42;
  call.k = 20;
  call.padding = 3;
  call.alpha = 2;
  call.beta = -1;
  return call;
}

std::vector<Call> calls() {
  std::vector<Call> calls;
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      calls.push_back(call_of(Way::gemm, a, b, DataType::f32));
      calls.push_back(call_of(Way::gemm_ex, a, b, DataType::f16));
    }
  }
  calls.push_back(call_of(Way::strided, false, true, DataType::f32));
  calls.push_back(call_of(Way::strided_ex, true, false, DataType::bf16));
  for (size_t i = 8; i < 10; ++i) calls[i].batch = 3;
  Call wide = call_of(Way::gemm_ex, false, false, DataType::f16);
  wide.result = DataType::f32;
  calls.push_back(wide);
  for (const lt::Epilogue epilogue :
       {lt::Epilogue::none, lt::Epilogue::bias, lt::Epilogue::relu_bias, lt::Epilogue::gelu_bias}) {
    calls.push_back(call_of(Way::matmul, true, false, DataType::bf16));
    calls.back().epilogue = epilogue;
    calls.back().beta = 0;
  }
  calls.push_back(call_of(Way::matmul, false, true, DataType::f32));
  calls.back().epilogue = lt::Epilogue::relu_bias;
  return calls;
}

// Half of the last place of bf16; GELU's tanh is approximate.
void check_close(const std::vector<float>& got, const std::vector<float>& expected, bool exact) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const float allowed = exact ? 0 : 0.01F * std::abs(expected[i]) + 0.01F;
    REQUIRE(std::abs(got[i] - expected[i]) <= allowed);
  }
}

TEST_CASE("calls are computed by the kernels that are launched for them") {
  std::mt19937 random(5);
  std::map<std::string, dispatch_test::Tuned> results;
  for (const Call& call : calls()) {
    const Problem problem = canonical(problem_of_call(call));
    results.try_emplace(key(problem), won_by(problem));
  }
  std::vector<dispatch_test::Tuned> tuned;
  for (const auto& [text, result] : results) tuned.push_back(result);
  static Process& process = *new Process(tuned);
  for (const dispatch_test::Tuned& result : tuned)
    define_real_kernel(process.gpu(), *result.kernel);
  for (const Call& call : calls()) {
    CAPTURE(key(problem_of_call(call)));
    const Arguments x(call, random);
    const auto bytes = [](const Matrix& matrix, DataType type) {
      return matrix.values().size() * static_cast<size_t>(size_bytes(type));
    };
    matrices() = {{x.a.data(), bytes(x.a, call.type)},
                  {x.b.data(), bytes(x.b, call.type)},
                  {x.c.data(), bytes(x.c, call.result)},
                  {x.bias.data(), bytes(x.bias, call.result)}};
    const size_t launches = process.gpu().launches().size();
    REQUIRE(process.call(call, x) == lt::Status::success);
    REQUIRE(process.gpu().launches().size() == launches + 1);
    check_close(x.c.values(), x.expected, call.epilogue != lt::Epilogue::gelu_bias);
  }
}

}  // namespace
}  // namespace gemmtune::cublas_preload
