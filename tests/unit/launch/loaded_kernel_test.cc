#include "launch/loaded_kernel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fake_driver.h"
#include "tma_strategy.h"

namespace gemmtune::launch {
namespace {

using codegen::KernelSpec;

Problem sample_problem() {
  Problem problem = make_problem({100, 72, 640});
  problem.batch = 3;
  problem.lda = 648;
  pack(problem);
  problem.stride_b = 0;
  return problem;
}

KernelSpec split_k(const Problem& problem, int reduction) {
  TileConfig tile;
  tile.tile_m = tile.tile_n = 64;
  tile.tile_k = 8;
  tile.warp_m = tile.warp_n = 32;
  tile.thread_m = 8;
  tile.thread_n = 4;
  tile.stages = 3;
  tile.copy = kCopyAsync;
  tile.fragments = 1;
  tile.slices = 4;
  tile.reduction = reduction;
  tile.raster = 4;
  KernelSpec spec{*codegen::find_strategy("split_k"), tile, codegen::traits_for(problem),
                  problem.type};
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device({9, 0, false}));
  if (broken != nullptr) FAIL(broken->name);
  return spec;
}

// What the fake driver takes for machine code: the names of the kernels.
std::string image_of(const KernelSpec& spec) {
  std::string text;
  for (const std::string& name : codegen::entry_names(spec)) text += name + " ";
  return text;
}

LoadedKernel load(const std::shared_ptr<gpu::Context>& context, const KernelSpec& spec) {
  const std::string image = image_of(spec);
  auto kernel = LoadedKernel::load(context, spec, std::as_bytes(std::span(image)));
  if (!kernel) FAIL(kernel.error().message);
  return *std::move(kernel);
}

std::array<unsigned, 3> array_of(const Dim3& d) {
  return {d.x, d.y, d.z};
}

float* address(uintptr_t value) {
  return reinterpret_cast<float*>(value);  // NOLINT(performance-no-int-to-ptr)
}

Operands sample_operands() {
  Operands operands;
  operands.a = address(0x1000);
  operands.b = address(0x2000);
  operands.c = address(0x3000);
  operands.workspace = address(0x4000);
  operands.scale_a = address(0x7000);
  operands.scale_b = address(0x8000);
  operands.alpha = 1.5F;
  operands.beta = -2.0F;
  operands.alpha_device = address(0x5000);
  operands.beta_device = address(0x6000);
  return operands;
}

template <class Arguments>
Arguments arguments_of(const fake_cuda::Launch& launch) {
  Arguments arguments;
  REQUIRE(launch.arguments.size() == sizeof(Arguments));
  std::memcpy(&arguments, launch.arguments.data(), sizeof(Arguments));
  return arguments;
}

void check_arguments(const GemmArgs& args, const Problem& p) {
  const Operands operands = sample_operands();
  CHECK(args.a == operands.a);
  CHECK(args.b == operands.b);
  CHECK(args.c == operands.c);
  CHECK(args.workspace == operands.workspace);
  CHECK(args.scale_a == operands.scale_a);
  CHECK(args.scale_b == operands.scale_b);
  CHECK((args.m == p.shape.m && args.n == p.shape.n && args.k == p.shape.k));
  CHECK(args.batch == p.batch);
  CHECK((args.lda == p.lda && args.ldb == p.ldb && args.ldc == p.ldc));
  CHECK((args.stride_a == p.stride_a && args.stride_b == 0 && args.stride_c == p.stride_c));
}

TEST_CASE("every launch of a plan, in order, with the problem's arguments") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const Problem problem = sample_problem();
  for (const int reduction : {kReduceWorkspace, kReduceAtomic, kReduceCluster}) {
    CAPTURE(reduction);
    const KernelSpec spec = split_k(problem, reduction);
    const codegen::LaunchPlan plan = spec.strategy->launch_plan(spec, problem);
    const LoadedKernel kernel = load(context, spec);
    const BoundKernel bound = kernel.bind(problem);
    CHECK(bound.workspace_bytes() == plan.workspace_bytes);
    const size_t before = fixture.fake.launches().size();
    const auto entered = context->enter();
    REQUIRE(bound.enqueue(sample_operands(), nullptr));
    const auto launches = fixture.fake.launches();
    REQUIRE(launches.size() == before + plan.launches.size());
    const auto names = codegen::entry_names(spec);
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const codegen::KernelLaunch& planned = plan.launches[i];
      const fake_cuda::Launch& launch = launches[before + i];
      CHECK(launch.kernel == names[static_cast<size_t>(planned.entry)]);
      CHECK(launch.grid == array_of(planned.config.grid));
      CHECK(launch.block == array_of(planned.config.block));
      CHECK(launch.cluster == array_of(planned.config.cluster));
      const auto args = arguments_of<GemmArgs>(launch);
      check_arguments(args, problem);
      CHECK(args.alpha == 1.5F);
      CHECK(args.beta == -2.0F);
      CHECK(args.raster == 4);
    }
    // The same in one step.
    REQUIRE(kernel.enqueue(problem, sample_operands(), nullptr));
    CHECK(fixture.fake.launches().size() == before + 2 * plan.launches.size());
  }
  CHECK(fixture.fake.misuses().empty());
}

// Nobody knows what precedes it, and behind kernels that let none start early it would take longer.
TEST_CASE("only kernels behind the first of a product start early") {
  const fake_cuda::Fixture fixture;
  fixture.fake.set_parameter_bytes(
      {sizeof(GemmArgs), sizeof(EncodedTensorMap), sizeof(EncodedTensorMap)});
  const auto context = fixture.retain();
  const Problem problem = make_problem({256, 256, 4096}, DataType::bf16, *parse_layout("tnt"));
  const auto& strategy = **codegen::find_strategy("wgmma_split_k");
  const KernelSpec spec = codegen::spec_for(
      strategy,
      *parse_tile("tile_m=128 tile_n=128 tile_k=64 stages=4 slices=4 consumers=2 raster=1"),
      problem, {9, 0});
  const codegen::LaunchPlan plan = spec.strategy->launch_plan(spec, problem);
  REQUIRE(plan.launches.size() == 2);
  for (const codegen::KernelLaunch& launch : plan.launches) CHECK(launch.config.overlaps_previous);
  const LoadedKernel kernel = load(context, spec);
  const auto entered = context->enter();
  REQUIRE(kernel.bind(problem).enqueue(sample_operands(), nullptr));
  const auto launches = fixture.fake.launches();
  REQUIRE(launches.size() == 2);
  CHECK(!launches[0].overlaps_previous);
  CHECK(launches[1].overlaps_previous);
}

// The others have static shared memory of their own: with the main kernel's on top, a block would
// have more than there is.
TEST_CASE("only the main kernel is given the main kernel's shared memory") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  KernelSpec spec = split_k(sample_problem(), kReduceWorkspace);
  spec.tile.tile_k = 32;
  spec.tile.stages = 4;
  REQUIRE(spec.strategy->smem_bytes(spec) > 48 * 1024);
  REQUIRE(codegen::entry_names(spec).size() == 2);
  load(context, spec);
  const auto calls = fixture.fake.calls();
  CHECK(std::count(calls.begin(), calls.end(), "cuFuncSetAttribute") == 1);
}

TEST_CASE("a kernel that reads its scalars is given their addresses") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const Problem problem = sample_problem();
  KernelSpec spec = split_k(problem, kReduceWorkspace);
  spec.device_scalars = true;
  const LoadedKernel kernel = load(context, spec);
  const auto entered = context->enter();
  REQUIRE(kernel.bind(problem).enqueue(sample_operands(), nullptr));
  const auto launches = fixture.fake.launches();
  REQUIRE(launches.size() == 2);
  for (const fake_cuda::Launch& launch : launches) {
    const auto args = arguments_of<DeviceScalarArgs>(launch);
    check_arguments(args.gemm, problem);
    CHECK(args.alpha == sample_operands().alpha_device);
    CHECK(args.beta == sample_operands().beta_device);
  }
  // Its names differ from those of the ordinary kernel, so neither can be taken for the other.
  KernelSpec plain = spec;
  plain.device_scalars = false;
  const std::string image = image_of(plain);
  CHECK_FALSE(LoadedKernel::load(context, spec, std::as_bytes(std::span(image))));
}

// The assembler chooses where parameters behind the first lie, so that the driver has to place
// them.
TEST_CASE(
    "a tensor map follows the GEMM arguments as a parameter of its own, of the call's address") {
  const fake_cuda::Fixture fixture;
  fixture.fake.set_parameter_bytes({sizeof(GemmArgs), sizeof(EncodedTensorMap)});
  const auto context = fixture.retain();
  const Problem problem = make_problem({100, 64, 64});
  const KernelSpec spec =
      codegen::spec_for(codegen::tma_copy(), *parse_tile("tile_m=32 tile_n=32"), problem, {9, 0});
  CHECK(to_string(spec.arch) == "sm_90a");
  const LoadedKernel kernel = load(context, spec);
  const auto entered = context->enter();
  REQUIRE(kernel.bind(problem).enqueue(sample_operands(), nullptr));
  const auto parameters = fixture.fake.launches().back().arguments;
  REQUIRE(parameters.size() == sizeof(GemmArgs) + sizeof(EncodedTensorMap));
  GemmArgs args;
  std::memcpy(&args, parameters.data(), sizeof(args));
  CHECK(args.a == sample_operands().a);
  std::array<uint64_t, 3> map{};
  std::memcpy(map.data(), parameters.data() + sizeof(args), sizeof(map));
  CHECK(map == std::array<uint64_t, 3>{0x1000, 64, 100});
  // What the driver refuses is an error of the call.
  Operands misaligned = sample_operands();
  misaligned.a = address(0x1008);
  CHECK_FALSE(kernel.bind(problem).enqueue(misaligned, nullptr));
}

// The fake driver says that every kernel has 64 registers per thread.
TEST_CASE("a kernel that shares out more registers than it has is not loaded") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const Problem problem = make_problem({64, 64, 64}, DataType::bf16);
  const auto spec_of = [&](const char* tile) {
    return codegen::spec_for(**codegen::find_strategy("wgmma_tma"), *parse_tile(tile), problem,
                             {9, 0});
  };
  const KernelSpec few = spec_of("tile_m=128 tile_n=64 tile_k=64 stages=2 consumers=2 schedule=0");
  CHECK(few.strategy->least_registers(few) == 168);
  const std::string image = image_of(few);
  const auto refused = LoadedKernel::load(context, few, std::as_bytes(std::span(image)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("64 registers where the kernel shares out 168") !=
        std::string::npos);
  load(context, spec_of("tile_m=192 tile_n=8 tile_k=64 stages=2 consumers=3 min_blocks=2"));
  load(context, spec_of("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1"));  // shares none
}

TEST_CASE("a failure of any step is passed on, and nothing stays behind") {
  const Problem problem = sample_problem();
  const KernelSpec spec = split_k(problem, kReduceWorkspace);
  const std::string image = image_of(spec);
  for (const char* symbol : {"cuModuleLoadDataEx", "cuModuleGetFunction"}) {
    const fake_cuda::Fixture fixture;
    const auto context = fixture.retain();
    fixture.fake.fail(symbol, CUDA_ERROR_OUT_OF_MEMORY);
    const auto kernel = LoadedKernel::load(context, spec, std::as_bytes(std::span(image)));
    REQUIRE_FALSE(kernel);
    CHECK(kernel.error().out_of_memory());
    CHECK(fixture.fake.live("module") == 0);
  }
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const LoadedKernel kernel = load(context, spec);
  fixture.fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
  const auto entered = context->enter();
  CHECK_FALSE(kernel.bind(problem).enqueue(sample_operands(), nullptr));
  CHECK(fixture.fake.launches().size() == 1);  // the first of the two
}

}  // namespace
}  // namespace gemmtune::launch
