// The C interface against the fake driver and the fake cuBLASLt: what is launched, on which
// operands, and what every failure says.
#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "../contains.h"
#include "codegen/strategy.h"
#include "gpu/graph.h"
#include "gpu/stream.h"
#include "library_fixture.h"

namespace gemmtune::dispatch_test {
namespace {

using nlohmann::json;

TEST_CASE("a tuned problem runs its kernel, in every layout, with padding and batches") {
  std::mt19937 random(1);
  for (const Layout layout : vendor_test::all_layouts()) {
    CAPTURE(to_string(layout));
    std::vector<Tuned> results;
    for (int i = 0; i < 6; ++i) {
      const Problem problem = vendor_test::random_problem(layout, random);
      results.push_back(won_by_kernel(problem));
    }
    const Tuning library(results);
    const Handle handle = library.create();
    for (const Tuned& tuned : results) {
      for (const bool device_scalars : {false, true}) {
        CAPTURE(key(tuned.problem));
        const size_t before = library.fake.launches().size();
        RunOptions options;
        options.device_scalars = device_scalars;
        REQUIRE(run(handle.get(), tuned.problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
        options.beta = 0;
        REQUIRE(run(handle.get(), tuned.problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
        CHECK(library.fake.launches().size() == before + 2);
      }
    }
    CHECK(library.blas.calls == 0);
    CHECK(library.blas.live == 0);  // cuBLASLt was not even opened
  }
}

// Sizes that 16 bytes do not divide, so that the kernel needs a copy first: two launches and a
// workspace. The fake driver's kernels compute nothing here.
TEST_CASE("a tuned problem of 16-bit types runs its kernel") {
  Problem problem = make_problem({130, 70, 33}, DataType::f16, *parse_layout("tnn"));
  problem.accumulator = DataType::f16;
  const Problem form = canonical(problem);
  const auto spec = codegen::spec_for(
      **codegen::find_strategy("mma_misaligned"),
      *parse_tile("tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 fragments=2"),
      form, kArch);
  REQUIRE(codegen::broken_rule(spec, representative_device(kArch)) == nullptr);
  const Tuning library({{problem, spec, 10, vendor_config(1), 20, fake_device().uuid}});
  for (const bool device_scalars : {false, true}) {
    codegen::KernelSpec variant = spec;
    variant.device_scalars = device_scalars;
    for (const std::string& name : codegen::entry_names(variant))
      library.fake.define_kernel(name, [](const fake_cuda::Launch&) {});
  }
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  size_t bytes = 0;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(bytes == 2 * (70 + 130) * 64);  // lines of 64 elements
  const float alpha = 1;
  const float beta = 0;
  alignas(256) static uint16_t operands[16384];
  const std::unique_ptr<void, decltype(&std::free)> workspace(std::aligned_alloc(256, bytes),
                                                              &std::free);
  REQUIRE(gemmtune_gemm(handle.get(), &c, &alpha, operands, operands, &beta, operands,
                        workspace.get(), bytes, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  const auto launches = library.fake.launches();
  REQUIRE(launches.size() == 2);
  GemmArgs args;
  REQUIRE(launches[1].arguments.size() == sizeof args);
  std::memcpy(&args, launches[1].arguments.data(), sizeof args);
  CHECK(args.m == form.shape.m);
  CHECK(args.lda == form.lda);
  CHECK(args.workspace == workspace.get());
  CHECK(library.blas.calls == 0);
}

// One kernel, of which each problem's launches have their own raster.
TEST_CASE("kernels that differ in launch facts only are launched with their own") {
  std::vector<Tuned> results;
  for (const int raster : {1, 8}) {
    const Problem form = make_problem({128, 64, 64 * raster}, DataType::f16);
    auto spec = codegen::spec_for(
        **codegen::find_strategy("mma_multistage"),
        *parse_tile("tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 "
                    "fragments=2"),
        form, kArch);
    spec.tile.raster = raster;
    REQUIRE(codegen::broken_rule(spec, representative_device(kArch)) == nullptr);
    results.push_back({form, spec, 10, vendor_config(1), 20, fake_device().uuid});
  }
  const Tuning library(results);
  for (const std::string& name : codegen::entry_names(*results.front().kernel))
    library.fake.define_kernel(name, [](const fake_cuda::Launch&) {});
  const Handle handle = library.create();
  alignas(256) static uint16_t operands[65536];
  const float alpha = 1;
  const float beta = 0;
  for (const Tuned& tuned : results) {
    const gemmtune_problem c = to_c(tuned.problem);
    REQUIRE(gemmtune_gemm(handle.get(), &c, &alpha, operands, operands, &beta, operands, nullptr, 0,
                          nullptr) == GEMMTUNE_STATUS_SUCCESS);
    GemmArgs args;
    const auto launches = library.fake.launches();
    REQUIRE(launches.back().arguments.size() == sizeof args);
    std::memcpy(&args, launches.back().arguments.data(), sizeof args);
    CHECK(args.raster == tuned.kernel->tile.raster);
  }
  CHECK(library.blas.calls == 0);
}

TEST_CASE("an unknown problem, and one that the vendor won, run on cuBLASLt") {
  std::mt19937 random(2);
  const Problem lost = make_problem({8, 8, 8});
  const Tuning library({{lost, naive_kernel(lost), 30, vendor_config(2), 20, fake_device().uuid}});
  const Handle handle = library.create();
  REQUIRE(run(handle.get(), lost, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.blas.last.algorithm == 3);  // the one that was measured
  for (const Layout layout : vendor_test::all_layouts()) {
    for (const bool device_scalars : {false, true}) {
      const Problem unknown = vendor_test::random_problem(layout, random);
      RunOptions options;
      options.device_scalars = device_scalars;
      REQUIRE(run(handle.get(), unknown, random, options) == GEMMTUNE_STATUS_SUCCESS);
      CHECK(library.blas.last.algorithm == 0);
      CHECK(library.blas.last.pointer_mode ==
            (device_scalars ? vendor::lt::PointerMode::device : vendor::lt::PointerMode::host));
    }
  }
  CHECK(library.fake.launches().empty());
}

TEST_CASE("an algorithm that this cuBLASLt does not have gives way to its default") {
  std::mt19937 random(3);
  const Problem problem = make_problem({8, 8, 8});
  const std::string gone = "rank=0 algo=77 tile=64x64";
  const Tuning library({{problem, std::nullopt, 0, gone, 20, fake_device().uuid}});
  const Handle handle = library.create();
  REQUIRE(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.blas.last.algorithm == 0);
  const json told = json::parse(explain(handle.get(), to_c(problem), GEMMTUNE_JSON));
  CHECK(contains(told["chosen"]["reason"], gone));
}

TEST_CASE("without cuBLASLt own kernels do all they can") {
  std::mt19937 random(4);
  const Problem tuned = make_problem({16, 16, 16});
  const Problem lost = make_problem({24, 24, 24});
  const Tuning library({won_by_kernel(tuned),
                        {lost, naive_kernel(lost), 30, vendor_config(1), 20, fake_device().uuid}});
  gemmtune_options options = library.options();
  for (const bool forbidden : {false, true}) {
    CAPTURE(forbidden);
    if (forbidden) {
      options.flags = GEMMTUNE_NO_VENDOR;
    } else {
      options.cublaslt_library = "/nowhere/libcublasLt.so";
    }
    const Handle handle(library.Library::create(options));
    CHECK(run(handle.get(), tuned, random) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(run(handle.get(), lost, random) == GEMMTUNE_STATUS_SUCCESS);
    // The kernel of a similar problem.
    CHECK(run(handle.get(), make_problem({20, 16, 12}), random) == GEMMTUNE_STATUS_SUCCESS);
    const json told =
        json::parse(explain(handle.get(), to_c(make_problem({20, 16, 12})), GEMMTUNE_JSON));
    CHECK(told["chosen"]["neighbour"] == "f32/f32/ieee/ttt/16x16x16");
    // Nothing is known about products in this type.
    Problem half = make_problem({16, 16, 16}, DataType::f16);
    const gemmtune_problem c = to_c(half);
    size_t bytes = 1;
    CHECK(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_NO_KERNEL);
    CHECK(bytes == 0);
    CHECK(contains(error_of(handle.get()), "nothing here computes f16/f32/ieee/ttt/16x16x16"));
    CHECK(contains(error_of(handle.get()), forbidden ? "as asked for" : "/nowhere"));
  }
}

TEST_CASE("without a compiler, cache and pack serve; without any of them cuBLASLt does") {
  std::mt19937 random(5);
  const Problem problem = make_problem({32, 16, 8});
  const std::vector<Tuned> results = {won_by_kernel(problem)};
  const Tuning library(results);
  const std::string pack = library.folder.file("h200.pack");
  write_pack(pack, results);
  gemmtune_options options = library.options();
  const auto launches = [&](const gemmtune_options& with) {
    const size_t before = library.fake.launches().size();
    const Handle handle(library.Library::create(with));
    CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
    return library.fake.launches().size() - before;
  };
  CHECK(launches(options) == 1);
  options.flags = GEMMTUNE_NO_COMPILE;
  CHECK(launches(options) == 1);
  options.cache_dir = nullptr;
  CHECK(launches(options) == 0);
  CHECK(library.blas.last.algorithm == 2);  // the vendor's best, which was measured too
  {
    const Handle handle(library.Library::create(options));
    REQUIRE(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
    const json told = json::parse(explain(handle.get(), to_c(problem), GEMMTUNE_JSON));
    CHECK(told["chosen"]["route"] == "cublaslt");
    CHECK(contains(told["rejected"][0]["what"], "naive"));
    CHECK(contains(told["rejected"][0]["why"], "compiling was forbidden"));
  }
  options.database = nullptr;
  options.pack = pack.c_str();
  CHECK(launches(options) == 1);
}

TEST_CASE("a handle says for how many problems there are results that count on its GPU") {
  const auto tuned_problems = [](gemmtune_handle handle) {
    size_t count = 77;
    CHECK(gemmtune_tuned_problems(handle, &count) == GEMMTUNE_STATUS_SUCCESS);
    return count;
  };
  Tuned of_other_arch = won_by_kernel(make_problem({64, 16, 8}));
  of_other_arch.arch = {7, 5};
  of_other_arch.kernel->arch = of_other_arch.arch;
  const Tuning both({won_by_kernel(make_problem({32, 16, 8})), of_other_arch});
  CHECK(tuned_problems(both.create().get()) == 1);
  const Tuning other({of_other_arch});
  const Handle handle = other.create();
  CHECK(tuned_problems(handle.get()) == 0);
  CHECK(gemmtune_tuned_problems(handle.get(), nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "null pointer"));
  size_t count = 77;
  CHECK(gemmtune_tuned_problems(nullptr, &count) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(count == 0);
}

TEST_CASE("a kernel that the driver refuses gives way, any other failure of it is reported") {
  std::mt19937 random(6);
  const Problem problem = make_problem({32, 16, 8});
  const Tuning library({won_by_kernel(problem)});
  {
    const Handle handle = library.create();
    library.fake.fail("cuModuleLoadDataEx", CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(library.blas.last.algorithm == 2);
  }
  const Handle handle = library.create();
  library.fake.fail("cuModuleLoadDataEx", CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_OUT_OF_MEMORY);
  CHECK(contains(error_of(handle.get()), "out of memory"));
  CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);  // it was not final
  CHECK(library.fake.launches().size() == 1);
  library.fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_CUDA);
  CHECK(contains(error_of(handle.get()), "launching a kernel"));
  library.blas.fail = "cublasLtMatmul";
  CHECK(run(handle.get(), make_problem({2, 2, 2}), random) == GEMMTUNE_STATUS_CUDA);
  CHECK(contains(error_of(handle.get()), "cuBLASLt"));
}

TEST_CASE("workspaces: asked for, checked, and limited") {
  std::mt19937 random(7);
  const Problem problem = make_problem({64, 64, 256});
  const Tuning library({won_by_workspace_kernel(problem)});
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  size_t bytes = 0;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(bytes == 4 * 64 * 64 * sizeof(float));
  CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 2);
  RunOptions options;
  options.workspace_bytes = bytes - 1;
  CHECK(run(handle.get(), problem, random, options) == GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL);
  CHECK(contains(error_of(handle.get()), "needs " + std::to_string(bytes)));
  options.workspace_bytes = 0;
  CHECK(run(handle.get(), problem, random, options) == GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL);
  std::vector<float> operand(64 * 256);
  const float one = 1;
  CHECK(gemmtune_gemm(handle.get(), &c, &one, operand.data(), operand.data(), &one, operand.data(),
                      reinterpret_cast<void*>(0x1010), bytes,  // NOLINT: not 256-aligned
                      nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "256"));

  gemmtune_options limited = library.options();
  limited.max_workspace_bytes = static_cast<int64_t>(bytes) - 1;
  const Handle other(library.Library::create(limited));
  CHECK(run(other.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 2);  // not one more: it ran on cuBLASLt
  CHECK(library.blas.max_workspace_bytes == bytes - 1);
  CHECK(contains(explain(other.get(), c, GEMMTUNE_TEXT), "needs a workspace of"));
}

TEST_CASE("deterministic: a kernel that adds up with atomics is passed over") {
  std::mt19937 random(8);
  const Problem problem = make_problem({64, 64, 256});
  Tuned tuned = won_by_workspace_kernel(problem);
  tuned.kernel->tile.reduction = kReduceAtomic;
  const Tuning library({tuned});
  gemmtune_options options = library.options();
  options.flags = GEMMTUNE_DETERMINISTIC;
  const Handle handle(library.Library::create(options));
  CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().empty());
  CHECK(contains(explain(handle.get(), to_c(problem), GEMMTUNE_TEXT), "not deterministic"));
}

// Of one handle: what one problem may have is no limit of another's, nor of the same asked for
// otherwise.
TEST_CASE("a problem may have a smaller workspace than the handle allows, or none") {
  const Problem problem = make_problem({64, 64, 256});
  const Tuning library({won_by_workspace_kernel(problem)});
  const Handle handle = library.create();
  gemmtune_problem c = to_c(problem);
  size_t most = 0;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &most) == GEMMTUNE_STATUS_SUCCESS);
  REQUIRE(most > 0);
  for (const int64_t limit : {static_cast<int64_t>(most) - 1, int64_t{GEMMTUNE_NO_WORKSPACE}}) {
    c.max_workspace_bytes = limit;
    REQUIRE(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
    // It is cuBLASLt's, which was told so.
    CHECK(library.blas.max_workspace_bytes == static_cast<size_t>(std::max<int64_t>(limit, 0)));
    CHECK(contains(explain(handle.get(), c, GEMMTUNE_TEXT), "needs a workspace of"));
  }
  c.max_workspace_bytes = static_cast<int64_t>(most);
  size_t bytes = 0;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(bytes == most);
  c.max_workspace_bytes = -2;
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "max_workspace_bytes is -2"));
}

TEST_CASE("a problem may ask for determinism where the handle does not") {
  std::mt19937 random(8);
  const Problem problem = make_problem({64, 64, 256});
  Tuned tuned = won_by_workspace_kernel(problem);
  tuned.kernel->tile.reduction = kReduceAtomic;
  const Tuning library({tuned});
  const Handle handle = library.create();
  gemmtune_problem c = to_c(problem);
  CHECK(contains(explain(handle.get(), c, GEMMTUNE_TEXT), "uses    split_k"));
  c.flags = GEMMTUNE_DETERMINISTIC;
  CHECK(contains(explain(handle.get(), c, GEMMTUNE_TEXT), "not deterministic"));
  REQUIRE(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.live("module") == 0);  // cuBLASLt's
  c.flags = 0;
  REQUIRE(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.live("module") == 1);
  c.flags = GEMMTUNE_NO_VENDOR;
  CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "flags is 2"));
}

TEST_CASE("scalars may be f16, f64 or i32 in host memory") {
  const Problem problem = make_problem({8, 8, 8});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  gemmtune_problem c = to_c(problem);
  alignas(256) float a[64];
  alignas(256) float product[64] = {};
  std::fill(std::begin(a), std::end(a), 1.0F);
  const auto run_with = [&](int32_t scalars, const void* alpha, const void* beta) {
    c.scalars = scalars;
    std::fill(std::begin(product), std::end(product), 100.0F);
    REQUIRE(gemmtune_gemm(handle.get(), &c, alpha, a, a, beta, product, nullptr, 0, nullptr) ==
            GEMMTUNE_STATUS_SUCCESS);
    return product[63];
  };
  const uint16_t halves[2] = {0x3E00, 0x3800};  // 1.5 and 0.5
  CHECK(run_with(GEMMTUNE_SCALARS_HOST_F16, &halves[0], &halves[1]) == 1.5F * 8 + 50);
  const double doubles[2] = {0.25, -2};
  CHECK(run_with(GEMMTUNE_SCALARS_HOST_F64, &doubles[0], &doubles[1]) == 0.25F * 8 - 200);
  const int32_t integers[2] = {3, -1};
  CHECK(run_with(GEMMTUNE_SCALARS_HOST_I32, &integers[0], &integers[1]) == 3 * 8 - 100);
  const float floats[2] = {2, 0};
  CHECK(run_with(GEMMTUNE_SCALARS_HOST, &floats[0], &floats[1]) == 16);
  CHECK(gemmtune_gemm(handle.get(), &c, nullptr, a, a, &halves[1], product, nullptr, 0, nullptr) ==
        GEMMTUNE_STATUS_INVALID_ARGUMENT);
  c.scalars = 5;
  CHECK(gemmtune_gemm(handle.get(), &c, &floats[0], a, a, &floats[1], product, nullptr, 0,
                      nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "scalars is 5"));
}

TEST_CASE("after prewarm a capture records launches and nothing else") {
  const Problem problem = make_problem({32, 16, 8});
  const Problem unknown = make_problem({5, 6, 7});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  const auto driver = fake_gpu_driver();
  const auto context = gpu::Context::retain(driver, 0).value();
  const auto stream = gpu::Stream::create(context).value();
  std::mt19937 random(9);
  RunOptions options;
  options.stream = stream.handle();
  options.workspace_bytes = 0;
  std::vector<gemmtune_status> statuses;
  const auto capture = [&] {
    statuses.clear();
    return gpu::Graph::capture(stream, [&]() -> gpu::Result<void> {
      statuses.push_back(run(handle.get(), problem, random, options));
      statuses.push_back(run(handle.get(), unknown, random, options));
      return {};
    });
  };
  auto graph = capture();
  CHECK(statuses == std::vector{GEMMTUNE_STATUS_NOT_PREPARED, GEMMTUNE_STATUS_NOT_PREPARED});
  CHECK(contains(error_of(handle.get()), "gemmtune_prewarm"));
  REQUIRE(graph);  // the capture itself was not disturbed
  CHECK(*graph->node_count() == 0);

  const gemmtune_problem problems[] = {to_c(problem), to_c(unknown)};
  REQUIRE(gemmtune_prewarm(handle.get(), problems, 2, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  const size_t loads = library.fake.live("module");
  graph = capture();
  REQUIRE(graph);
  CHECK(statuses == std::vector{GEMMTUNE_STATUS_SUCCESS, GEMMTUNE_STATUS_SUCCESS});
  CHECK(*graph->node_count() == 1);  // the fake cuBLASLt computes at once
  CHECK(library.fake.live("module") == static_cast<int>(loads));
}

TEST_CASE("prewarm: a status for each, and the first failure") {
  const Problem problem = make_problem({32, 16, 8});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  gemmtune_problem problems[4] = {to_c(problem), to_c(problem), to_c(make_problem({3, 3, 3})),
                                  to_c(problem)};
  problems[1].k = 0;
  problems[3].lda = 1;
  gemmtune_status each[4] = {};
  CHECK(gemmtune_prewarm(handle.get(), problems, 4, each) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "k is 0"));
  CHECK(each[0] == GEMMTUNE_STATUS_SUCCESS);
  CHECK(each[1] == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(each[2] == GEMMTUNE_STATUS_SUCCESS);
  CHECK(each[3] == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(gemmtune_prewarm(handle.get(), nullptr, 0, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(gemmtune_prewarm(handle.get(), nullptr, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("create: every failure has its status and says what to do") {
  const Problem problem = make_problem({8, 8, 8});
  const Tuning library({won_by_kernel(problem)});
  gemmtune_handle handle = nullptr;
  const auto refused = [&](const gemmtune_options& options) {
    handle = reinterpret_cast<gemmtune_handle>(1);  // NOLINT: must be set to null
    const gemmtune_status status = gemmtune_create(&handle, &options);
    CHECK(handle == nullptr);
    return status;
  };
  gemmtune_options options = library.options();
  options.driver_library = "libcuda-nowhere.so.1";
  CHECK(refused(options) == GEMMTUNE_STATUS_NO_DEVICE);
  CHECK(error_of() == "no NVIDIA driver: libcuda-nowhere.so.1 not found");
  options = library.options();
  library.fake.fail("cuInit", CUDA_ERROR_NO_DEVICE);
  CHECK(refused(options) == GEMMTUNE_STATUS_NO_DEVICE);
  CHECK(contains(error_of(), "CUDA_ERROR_NO_DEVICE"));
  library.fake.set_version(11080);
  CHECK(refused(options) == GEMMTUNE_STATUS_NO_DEVICE);
  CHECK(contains(error_of(), "12.0 or newer"));
  library.fake.set_version(13000);
  options.device = 1;
  CHECK(refused(options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(), "devices 0..0"));
  options.device = -2;
  CHECK(refused(options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  options = library.options();
  options.abi_version = GEMMTUNE_ABI_VERSION + 1;
  CHECK(refused(options) == GEMMTUNE_STATUS_ABI_MISMATCH);
  CHECK(contains(error_of(), "compile it again"));
  options = library.options();
  options.pack = "both.pack";
  CHECK(refused(options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  options.database = options.pack = nullptr;
  CHECK(refused(options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(), "exactly one of database and pack"));
  options = library.options();
  options.flags = 8;
  CHECK(refused(options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  options = library.options();
  options.struct_bytes = 8;
  CHECK(refused(options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(), "GEMMTUNE_OPTIONS_INIT"));
  CHECK(gemmtune_create(&handle, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(gemmtune_create(nullptr, &options) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("structures of another header: grown ones serve while the new fields are zero") {
  const Problem problem = make_problem({8, 8, 8});
  const Tuning library({won_by_kernel(problem)});
  struct NewerOptions {
    gemmtune_options known;
    uint64_t added[2];
  } options = {library.options(), {0, 0}};
  options.known.struct_bytes = sizeof options;
  const Handle handle(library.Library::create(options.known));
  options.added[1] = 1;
  gemmtune_handle none = nullptr;
  CHECK(gemmtune_create(&none, &options.known) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(), "newer libgemmtune"));

  struct NewerProblem {
    gemmtune_problem known;
    uint64_t added;
  } problems[2] = {{to_c(problem), 0}, {to_c(make_problem({9, 9, 9})), 0}};
  for (NewerProblem& p : problems) p.known.struct_bytes = sizeof(NewerProblem);
  CHECK(gemmtune_prewarm(handle.get(), &problems[0].known, 2, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  size_t bytes = 0;
  CHECK(gemmtune_workspace_bytes(handle.get(), &problems[1].known, &bytes) ==
        GEMMTUNE_STATUS_SUCCESS);
  alignas(256) float data[81] = {};
  const float one = 1;
  for (int i = 0; i < 2; ++i) {
    CHECK(gemmtune_gemm(handle.get(), &problems[0].known, &one, data, data, &one, data, nullptr, 0,
                        nullptr) == GEMMTUNE_STATUS_SUCCESS);
  }
  problems[1].added = 5;
  gemmtune_status each[2] = {};
  CHECK(gemmtune_prewarm(handle.get(), &problems[0].known, 2, each) ==
        GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(each[0] == GEMMTUNE_STATUS_SUCCESS);
  CHECK(each[1] == GEMMTUNE_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("structures of another header: fields that an older one lacks have their defaults") {
  const Problem problem = make_problem({8, 8, 8});
  const Tuning library({won_by_kernel(problem)});
  gemmtune_options options = library.options();
  options.struct_bytes = offsetof(gemmtune_options, device);
  options.device = 99;  // not a field of that header
  options.max_workspace_bytes = -1;
  const Handle handle(library.Library::create(options));

  gemmtune_problem c = to_c(problem);
  c.struct_bytes = offsetof(gemmtune_problem, lda);
  c.lda = c.ldb = c.ldc = c.batch = -7;
  c.align_bytes = 3;
  alignas(256) float data[64] = {};
  const float one = 1;
  for (int i = 0; i < 2; ++i) {
    CHECK(gemmtune_gemm(handle.get(), &c, &one, data, data, &one, data, nullptr, 0, nullptr) ==
          GEMMTUNE_STATUS_SUCCESS);
  }
  CHECK(library.fake.launches().size() == 2);
  c = to_c(problem);
  c.struct_bytes = offsetof(gemmtune_problem, max_workspace_bytes);
  c.max_workspace_bytes = -7;
  CHECK(gemmtune_gemm(handle.get(), &c, &one, data, data, &one, data, nullptr, 0, nullptr) ==
        GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 3);
  for (const size_t bytes :
       {size_t{0}, offsetof(gemmtune_problem, k), offsetof(gemmtune_problem, lda) + 4}) {
    c.struct_bytes = static_cast<uint32_t>(bytes);
    CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "GEMMTUNE_PROBLEM_INIT"));
  }
}

// The problem with pointers of an alignment class, won by a kernel of its own.
Tuned won_at(int align_bytes, const char* tile) {
  Problem problem = make_problem({8, 8, 8});
  problem.align_bytes = align_bytes;
  Tuned tuned = won_by_kernel(problem);
  tuned.kernel =
      codegen::spec_for(**codegen::find_strategy("naive"), *parse_tile(tile), problem, kArch);
  return tuned;
}

TEST_CASE("a problem that states no alignment goes by the addresses of each call") {
  const Tuned usual = won_at(256, "tile_m=8 tile_n=32");
  const Tuned at_16 = won_at(16, "tile_m=16 tile_n=32");
  const Tuned at_4 = won_at(4, "tile_m=32 tile_n=32");
  const Tuning library({usual, at_16, at_4});
  const Handle handle = library.create();
  gemmtune_problem c = GEMMTUNE_PROBLEM_INIT;
  c.m = c.n = c.k = 8;
  CHECK(c.align_bytes == GEMMTUNE_ALIGN_OF_POINTERS);
  alignas(256) float data[256] = {};
  const float one = 1;
  const auto gemm = [&](const gemmtune_problem& problem, size_t a, size_t b, size_t out,
                        gemmtune_stream stream = nullptr) {
    return gemmtune_gemm(handle.get(), &problem, &one, data + a, data + b, &one, data + out,
                         nullptr, 0, stream);
  };
  const auto kernel_of = [&](size_t a, size_t b, size_t out) {
    REQUIRE(gemm(c, a, b, out) == GEMMTUNE_STATUS_SUCCESS);
    return library.fake.launches().back().kernel;
  };
  for (int round = 0; round < 2; ++round) {  // by the slow way, and through the thread's cache
    CHECK(kernel_of(0, 0, 128) == codegen::kernel_name(*usual.kernel));
    CHECK(kernel_of(64, 64, 64) == codegen::kernel_name(*usual.kernel));
    for (const size_t floats : {4, 8, 16, 32}) {
      CHECK(kernel_of(floats, 0, 64) == codegen::kernel_name(*at_16.kernel));
      CHECK(kernel_of(0, floats, 64) == codegen::kernel_name(*at_16.kernel));
      CHECK(kernel_of(0, 0, floats) == codegen::kernel_name(*at_16.kernel));
    }
    CHECK(kernel_of(0, 0, 1) == codegen::kernel_name(*at_4.kernel));
    CHECK(kernel_of(4, 3, 0) == codegen::kernel_name(*at_4.kernel));
  }
  // One that promises more than it hands over is refused.
  gemmtune_problem stated = c;
  stated.align_bytes = 256;
  CHECK(gemm(stated, 4, 0, 64) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  stated.align_bytes = 1024;
  CHECK(gemm(stated, 64, 0, 64) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(gemm(stated, 4, 0, 64) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  stated.align_bytes = 64;  // its kernels ask for 16
  CHECK(gemm(stated, 4, 0, 64) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(gemm(stated, 1, 0, 64) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  // Less than an element is no address of one.
  const auto* const odd = reinterpret_cast<const char*>(data) + 2;
  CHECK(gemmtune_gemm(handle.get(), &c, &one, odd, data, &one, data, nullptr, 0, nullptr) ==
        GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "alignment is 2 bytes"));
}

TEST_CASE("what less aligned addresses lack is said") {
  const Tuned usual = won_at(256, "tile_m=8 tile_n=32");
  Tuned at_16 = won_at(16, "tile_m=16 tile_n=32");
  at_16.kernel = workspace_kernel(at_16.problem);
  const Tuning library({usual, at_16});
  const Handle handle = library.create();
  gemmtune_problem c = GEMMTUNE_PROBLEM_INIT;
  c.m = c.n = c.k = 8;
  REQUIRE(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  size_t bytes = 1;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(bytes == 0);
  alignas(256) float data[256] = {};
  const float one = 1;
  const auto gemm = [&](gemmtune_stream stream) {
    return gemmtune_gemm(handle.get(), &c, &one, data + 4, data, &one, data, nullptr, 0, stream);
  };
  CHECK(gemm(nullptr) == GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL);
  CHECK(contains(error_of(handle.get()), "multiples of 16 bytes only"));
  c.align_bytes = 16;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(bytes > 0);
}

TEST_CASE("arguments of a product are checked before anything is enqueued") {
  const Problem problem = make_problem({16, 16, 16});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  alignas(256) float data[257];
  const float one = 1;
  const auto gemm = [&](const gemmtune_problem* p, const float* alpha, const float* a,
                        const float* b, const float* beta, float* c) {
    return gemmtune_gemm(handle.get(), p, alpha, a, b, beta, c, nullptr, 0, nullptr);
  };
  const gemmtune_problem c = to_c(problem);
  for (int round = 0; round < 2; ++round) {  // by the slow way, and through the thread's cache
    CHECK(gemm(&c, nullptr, data, data, &one, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(gemm(&c, &one, nullptr, data, &one, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(gemm(&c, &one, data, nullptr, &one, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(gemm(&c, &one, data, data, nullptr, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(gemm(&c, &one, data, data, &one, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(gemm(&c, &one, data + 1, data, &one, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "256 bytes that gemmtune_problem.align_bytes"));
    CHECK(gemm(nullptr, &one, data, data, &one, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  }
  CHECK(library.fake.launches().empty());
  CHECK(gemm(&c, &one, data, data, &one, data) == GEMMTUNE_STATUS_SUCCESS);
  for (const int batch : {1, 2}) {
    gemmtune_problem zero = c;
    zero.batch = batch;
    zero.ldb = 0;  // not GEMMTUNE_PACKED
    CHECK(gemm(&zero, &one, data, data, &one, data) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "ldb is 0"));
  }
  gemmtune_problem unaligned = c;
  unaligned.align_bytes = 4;
  CHECK(gemm(&unaligned, &one, data + 1, data, &one, data) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(gemmtune_gemm(nullptr, &c, &one, data, data, &one, data, nullptr, 0, nullptr) ==
        GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(), "handle is null"));
  gemmtune_destroy(nullptr);
}

TEST_CASE("prewarm says where a handle keeps no more problems") {
  constexpr size_t kKept = 16384;
  const Tuning library({won_by_kernel(make_problem({8, 8, 8}))});
  const Handle handle = library.create();
  std::vector<gemmtune_problem> problems;
  for (size_t i = 0; i < kKept + 2; ++i)
    problems.push_back(to_c(
        make_problem({static_cast<int64_t>(9 + i % 128), static_cast<int64_t>(9 + i / 128), 8})));
  std::vector<gemmtune_status> each(problems.size());
  CHECK(gemmtune_prewarm(handle.get(), problems.data(), problems.size(), each.data()) ==
        GEMMTUNE_STATUS_OUT_OF_MEMORY);
  CHECK(contains(error_of(handle.get()), "another handle"));
  CHECK(std::count(each.begin(), each.end(), GEMMTUNE_STATUS_SUCCESS) == kKept);
  const gemmtune_problem tuned = to_c(make_problem({8, 8, 8}));
  CHECK(gemmtune_prewarm(handle.get(), &tuned, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
}

TEST_CASE("a message belongs to its handle and its thread") {
  const Problem problem = make_problem({8, 8, 8});
  const Tuning library({won_by_kernel(problem)});
  const Handle a = library.create();
  const Handle b = library.create();
  gemmtune_problem bad = to_c(problem);
  size_t bytes = 0;
  bad.m = 0;
  CHECK(gemmtune_workspace_bytes(a.get(), &bad, &bytes) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  bad.m = 8;
  bad.type = 9;
  CHECK(gemmtune_workspace_bytes(b.get(), &bad, &bytes) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(a.get()), "m is 0"));
  CHECK(contains(error_of(b.get()), "type is 9"));
  std::thread([&] { CHECK(error_of(a.get()).empty()); }).join();
  const gemmtune_problem good = to_c(problem);
  CHECK(gemmtune_workspace_bytes(a.get(), &good, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(contains(error_of(a.get()), "m is 0"));  // the last failure, not the last call
}

TEST_CASE("two devices, two handles, one thread: each in its own context, the caller's kept") {
  std::mt19937 random(10);
  const Problem problem = make_problem({32, 16, 8});
  Tuned first = won_by_kernel(problem);
  Library library(2);
  define_kernel(library.fake, *first.kernel);
  const std::string database = library.folder.file("tuned.db");
  const std::string cache = library.folder.file("cache");
  Tuned second = first;
  second.device_uuid = fake_device(1).uuid;
  write_database(database, {first, second}, {fake_device(0), fake_device(1)});
  write_cache(cache, {*first.kernel});
  gemmtune_options options = library.options();
  options.database = database.c_str();
  options.cache_dir = cache.c_str();
  options.device = 0;
  const Handle zero(library.create(options));
  options.device = 1;
  const Handle one(library.create(options));
  const auto driver = fake_gpu_driver();
  const auto current = [&] {
    CUcontext context = nullptr;
    REQUIRE(driver->api().ctx_get_current(&context) == CUDA_SUCCESS);
    return context;
  };
  for (int round = 0; round < 3; ++round) {
    for (const Handle* handle : {&zero, &one}) {
      CHECK(run(handle->get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
      CHECK(current() == nullptr);
      auto* const own = static_cast<CUcontext>(library.fake.create_context(0));
      REQUIRE(driver->api().ctx_push_current(own) == CUDA_SUCCESS);
      CHECK(run(handle->get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
      CHECK(current() == own);
      CUcontext popped = nullptr;
      REQUIRE(driver->api().ctx_pop_current(&popped) == CUDA_SUCCESS);
    }
  }
  CHECK(library.fake.launches().size() == 12);
}

TEST_CASE("a handle lives in the context that is current, whoever made it") {
  std::mt19937 random(11);
  const Problem problem = make_problem({32, 16, 8});
  const Tuning library({won_by_kernel(problem)}, 2);
  const auto driver = fake_gpu_driver();
  auto* const own = static_cast<CUcontext>(library.fake.create_context(0));
  REQUIRE(driver->api().ctx_push_current(own) == CUDA_SUCCESS);
  Handle handle = library.create();
  CHECK(library.fake.live("context") == 0);  // no primary context was made for it
  CUcontext popped = nullptr;
  REQUIRE(driver->api().ctx_pop_current(&popped) == CUDA_SUCCESS);
  CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 1);
  // Asked for another device, the current context does not matter.
  REQUIRE(driver->api().ctx_push_current(own) == CUDA_SUCCESS);
  gemmtune_options options = library.options();
  options.device = 1;
  const Handle other(library.Library::create(options));
  CHECK(library.fake.live("context") == 1);
  REQUIRE(driver->api().ctx_pop_current(&popped) == CUDA_SUCCESS);
}

TEST_CASE("a destroyed handle's plans are not found by the next one") {
  std::mt19937 random(12);
  const Problem problem = make_problem({32, 16, 8});
  const Tuning library({won_by_kernel(problem)});
  for (int round = 0; round < 5; ++round) {
    const Handle handle = library.create();
    CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(run(handle.get(), problem, random) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(library.fake.live("module") == 1);
  }
  CHECK(library.fake.launches().size() == 10);
}

TEST_CASE("explain: what is used, where it is from, and what else there is") {
  const Problem problem = make_problem({512, 256, 128});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  json told = json::parse(explain(handle.get(), c, GEMMTUNE_JSON));
  CHECK(told["problem"] == "f32/f32/ieee/ttt/512x256x128");
  CHECK(told["prepared"] == false);
  CHECK(told["workspace_bytes"] == nullptr);
  CHECK(told["chosen"]["route"] == "kernel");
  CHECK(told["chosen"]["strategy"] == "naive");
  CHECK(told["chosen"]["config"] == "tile_m=8 tile_n=32");
  CHECK(told["chosen"]["arch"] == "sm_90");
  CHECK(told["chosen"]["provenance"] == "measured");
  CHECK(told["chosen"]["stale"] == false);
  CHECK(told["chosen"]["expected_us"] == 10);
  CHECK(told["chosen"]["expected_tflops"].get<double>() ==
        doctest::Approx(2 * 512 * 256 * 128 / 10e6));
  CHECK(told["alternatives"][0]["route"] == "cublaslt");
  CHECK(told["alternatives"][0]["expected_us"] == 17);
  size_t bytes = 0;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  told = json::parse(explain(handle.get(), c, GEMMTUNE_JSON));
  CHECK(told["prepared"] == true);
  CHECK(told["workspace_bytes"] == 0);
  const std::string text = explain(handle.get(), c, GEMMTUNE_TEXT);
  CHECK(contains(text, "uses    naive tile_m=8 tile_n=32\n"));
  CHECK(contains(text, "10.00 us, measured on this device"));

  // Cut off where the buffer ends, with a zero; nothing past it is touched.
  std::string buffer(40, '#');
  size_t needed = 0;
  REQUIRE(gemmtune_explain(handle.get(), &c, GEMMTUNE_TEXT, buffer.data(), 20, &needed) ==
          GEMMTUNE_STATUS_SUCCESS);
  CHECK(needed == text.size() + 1);
  CHECK(buffer.substr(0, 20) == text.substr(0, 19) + '\0');
  CHECK(buffer.substr(20) == std::string(20, '#'));
  CHECK(gemmtune_explain(handle.get(), &c, 7, buffer.data(), 20, &needed) ==
        GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(needed == 1);
  CHECK(buffer[0] == '\0');
}

TEST_CASE("versions and texts of statuses") {
  CHECK(gemmtune_version() == GEMMTUNE_VERSION);
  CHECK(gemmtune_abi_version() == GEMMTUNE_ABI_VERSION);
  std::set<std::string> texts;
  for (int status = GEMMTUNE_STATUS_SUCCESS; status <= GEMMTUNE_STATUS_INTERNAL; ++status)
    texts.insert(gemmtune_status_string(static_cast<gemmtune_status>(status)));
  CHECK(texts.size() == GEMMTUNE_STATUS_INTERNAL + 1);
  CHECK(std::string(gemmtune_status_string(static_cast<gemmtune_status>(99))) == "unknown status");
}

}  // namespace
}  // namespace gemmtune::dispatch_test
