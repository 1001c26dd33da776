// The C interface where C is read, against the fake driver and the fake cuBLASLt.
#include "dispatch/reading_c.h"

#include <random>

#include "../contains.h"
#include "gpu/graph.h"
#include "gpu/stream.h"
#include "library_fixture.h"

namespace gemmtune::dispatch_test {
namespace {

// Its kernel was measured to be 1% faster than the vendor's second algorithm.
Tuned hardly_ahead(const Problem& problem) {
  Tuned tuned = won_by_kernel(problem);
  tuned.vendor_us = 10.1;
  return tuned;
}

// Runs a product and says who computed it.
std::string runner(const Tuning& library, const Handle& handle, const Problem& problem,
                   const RunOptions& options) {
  static std::mt19937 random(1);
  const size_t launches = library.fake.launches().size();
  const int calls = library.blas.calls;
  REQUIRE(run(handle.get(), problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
  const bool by_kernel = library.fake.launches().size() == launches + 1;
  const bool by_vendor = library.blas.calls == calls + 1;
  REQUIRE(by_kernel != by_vendor);
  return by_kernel ? "kernel" : "vendor";
}

RunOptions with_beta(float beta, bool device_scalars = false) {
  RunOptions options;
  options.beta = beta;
  options.device_scalars = device_scalars;
  return options;
}

TEST_CASE("a kernel that is hardly ahead computes what does not read C") {
  const Problem problem = make_problem({24, 16, 8});
  const Tuning library({hardly_ahead(problem)});
  const Handle handle = library.create();
  CHECK(runner(library, handle, problem, with_beta(0)) == "kernel");
  CHECK(runner(library, handle, problem, with_beta(1)) == "vendor");
  CHECK(library.blas.last.algorithm == 2);  // the one that was measured
  CHECK(runner(library, handle, problem, with_beta(-0.5f)) == "vendor");
  CHECK(runner(library, handle, problem, with_beta(-0.0f)) == "kernel");
  CHECK(runner(library, handle, problem, with_beta(0)) == "kernel");
  // Nobody knows what a beta in device memory is.
  CHECK(runner(library, handle, problem, with_beta(1, true)) == "kernel");
  CHECK(contains(explain(handle.get(), to_c(problem), GEMMTUNE_TEXT),
                 "where beta is not 0: cuBLASLt rank=1"));
}

TEST_CASE("a kernel that is far ahead computes both, and cuBLASLt is not asked") {
  const Problem problem = make_problem({24, 16, 8});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  CHECK(runner(library, handle, problem, with_beta(0)) == "kernel");
  CHECK(runner(library, handle, problem, with_beta(1)) == "kernel");
  CHECK(library.blas.max_workspace_bytes == 0);
  CHECK_FALSE(contains(explain(handle.get(), to_c(problem), GEMMTUNE_TEXT), "beta"));
}

TEST_CASE("a kernel with a bias computes both: cuBLASLt would have its own demands on the bias") {
  Problem problem = make_problem({24, 16, 8});
  problem.epilogue.bias = kBiasPerColumn;
  const Tuning library({hardly_ahead(problem)});
  const Handle handle = library.create();
  CHECK(runner(library, handle, problem, with_beta(0)) == "kernel");
  CHECK(runner(library, handle, problem, with_beta(1)) == "kernel");
}

TEST_CASE("without cuBLASLt the kernel computes both") {
  const Problem problem = make_problem({24, 16, 8});
  const Tuning library({hardly_ahead(problem)});
  for (const bool is_allowed : {false, true}) {
    gemmtune_options options = library.options();
    if (is_allowed) {
      options.cublaslt_library = "/nowhere/libcublasLt.so";
    } else {
      options.flags |= GEMMTUNE_NO_VENDOR;
    }
    const Handle handle(library.Library::create(options));
    CHECK(runner(library, handle, problem, with_beta(0)) == "kernel");
    CHECK(runner(library, handle, problem, with_beta(1)) == "kernel");
  }
}

TEST_CASE("a workspace is enough for both, and after prewarm both may be captured") {
  const Problem problem = make_problem({64, 64, 256});
  Tuned tuned = hardly_ahead(problem);
  tuned.kernel = workspace_kernel(problem);
  const Tuning library({tuned});
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  REQUIRE(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  size_t bytes = 0;
  REQUIRE(gemmtune_workspace_bytes(handle.get(), &c, &bytes) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(bytes == 4 * 64 * 64 * sizeof(float));

  const auto driver = fake_gpu_driver();
  const auto context = gpu::Context::retain(driver, 0).value();
  const auto stream = gpu::Stream::create(context).value();
  std::mt19937 random(2);
  RunOptions options;
  options.stream = stream.handle();
  const int calls = library.blas.calls;
  const auto graph = gpu::Graph::capture(stream, [&]() -> gpu::Result<void> {
    for (const float beta : {0.0f, 1.0f}) {
      options.beta = beta;
      CHECK(run(handle.get(), problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
    }
    return {};
  });
  REQUIRE(graph);
  CHECK(*graph->node_count() == 2);  // the kernel and its sums
  CHECK(library.blas.calls == calls + 1);
}

// The kernel that a product with this beta launches.
std::string launched(const Tuning& library, const Handle& handle, const Problem& problem,
                     const RunOptions& options) {
  REQUIRE(runner(library, handle, problem, options) == "kernel");
  return library.fake.launches().back().kernel;
}

TEST_CASE("where C is read, the kernel that fetches it runs, with a bias too") {
  for (const Bias bias : {kNoBias, kBiasPerColumn}) {
    Problem problem = make_problem({24, 16, 8});
    problem.epilogue.bias = bias;
    Tuned tuned = won_by_kernel(problem);
    tuned.kernel = kernel_with_fetching_one(problem);
    const std::string usual = codegen::entry_names(*tuned.kernel).front();
    const Tuning library({tuned});
    // Without its machine code the usual one computes both.
    CHECK(launched(library, library.create(), problem, with_beta(1)) == usual);

    const auto fetching = codegen::fetching_c(*tuned.kernel, representative_device(kArch));
    define_kernel(library.fake, fetching);
    write_cache(library.cache, {*tuned.kernel, fetching});
    const Handle handle = library.create();
    CHECK(launched(library, handle, problem, with_beta(0)) == usual);
    CHECK(launched(library, handle, problem, with_beta(1)) == usual + "_fetches_c");
    CHECK(launched(library, handle, problem, with_beta(-0.0f)) == usual);
    CHECK(launched(library, handle, problem, with_beta(1, true)) == usual + "_device_scalars");
    CHECK(contains(explain(handle.get(), to_c(problem), GEMMTUNE_TEXT),
                   "where beta is not 0: double_buffer"));
  }
}

}  // namespace
}  // namespace gemmtune::dispatch_test
