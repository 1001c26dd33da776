// Own kernels of several launches, which keep partial sums in a workspace.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "../rounds.h"
#include "own_process.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr size_t kLargest = 64 * 512;  // elements of a matrix

struct Matrix {
  std::unique_ptr<void, decltype(&std::free)> bytes{
      std::aligned_alloc(256, kLargest * sizeof(float)), &std::free};
  float* floats() const { return static_cast<float*>(bytes.get()); }
  explicit Matrix(float value) { std::fill_n(floats(), kLargest, value); }
};

struct WithWorkspace : Process {
  WithWorkspace() : Process({tuned()}) {}
  static dispatch_test::Tuned tuned() {
    dispatch_test::Tuned tuned = won_by(problem());
    tuned.kernel = dispatch_test::workspace_kernel(problem());
    return tuned;
  }
  static Problem problem() {
    return make_problem({64, 64, 512}, DataType::f32,
                        {Order::column_major, Order::column_major, Order::column_major});
  }
  static Asked call() {
    Asked asked = f32_call(64);
    asked.product.n = 64;
    asked.product.k = asked.product.b.ld = 512;
    return asked;
  }
  // Whether a call was computed here; where its partial sums went.
  bool own(CUstream on, const void** workspace = nullptr) {
    const Matrix operand(1);
    Asked asked = call();
    asked.pointers.a = asked.pointers.b = operand.floats();
    asked.stream = on;
    const int before = handed_on;
    CHECK(serve(asked) == lt::Status::success);
    if (workspace != nullptr && !library.fake.launches().empty()) {
      GemmArgs args;
      std::memcpy(&args, library.fake.launches().back().arguments.data(), sizeof args);
      *workspace = args.workspace;
    }
    return handed_on == before;
  }
};

TEST_CASE_FIXTURE(WithWorkspace, "streams have workspaces of their own") {
  const gpu::Stream other = gpu::Stream::create(context).value();
  const void* first = nullptr;
  const void* again = nullptr;
  const void* second = nullptr;
  CHECK(own(stream->handle(), &first));
  CHECK(own(other.handle(), &second));
  CHECK(own(stream->handle(), &again));
  CHECK(first != nullptr);
  CHECK(first == again);
  CHECK(first != second);
}

TEST_CASE_FIXTURE(WithWorkspace, "captures have workspaces that were set aside before") {
  const auto allocations = [this] {
    const auto calls = library.fake.calls();
    return std::count(calls.begin(), calls.end(), "cuMemAlloc_v2");
  };
  CHECK(own(stream->handle()));
  const auto before = allocations();
  for (int capture = 0; capture < 3; ++capture) {
    const Capturing capturing(*this);
    // Two are set aside; later ones by a call outside.
    CHECK(own(stream->handle()) == (capture < 2));
    CHECK(own(stream->handle()) == (capture < 2));
  }
  CHECK(allocations() == before);
  CHECK(own(stream->handle()));
  CHECK(allocations() > before);
  const Capturing capturing(*this);
  CHECK(own(stream->handle()));
}

TEST_CASE_FIXTURE(WithWorkspace, "without memory for a workspace cuBLAS computes") {
  library.fake.set_memory_bytes(1);
  CHECK_FALSE(own(stream->handle()));
  CHECK(run().detours[static_cast<size_t>(Detour::workspace)] == 1);
}

// What a launch was given.
GemmArgs arguments_of(const fake_cuda::Launch& launch) {
  GemmArgs args;
  std::memcpy(&args, launch.arguments.data(), sizeof args);
  return args;
}

TEST_CASE_FIXTURE(WithWorkspace, "threads on one stream do not overwrite each other's sums") {
  const auto names = codegen::entry_names(*tuned().kernel);
  REQUIRE(names.size() == 2);
  // The first launch leaves partial sums in the workspace, here whose they are; the second adds
  // them up.
  std::atomic<int> foreign = 0;
  library.fake.define_kernel(names[0], [](const fake_cuda::Launch& launch) {
    const GemmArgs args = arguments_of(launch);
    std::memcpy(args.workspace, &args.c, sizeof args.c);
  });
  library.fake.define_kernel(names[1], [&](const fake_cuda::Launch& launch) {
    const GemmArgs args = arguments_of(launch);
    if (std::memcmp(args.workspace, &args.c, sizeof args.c) != 0) ++foreign;
  });
  REQUIRE(own(stream->handle()));
  const Matrix operand(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto inside = context->enter();
      const Matrix result(0);
      Asked asked = call();
      asked.pointers = {operand.floats(), operand.floats(), result.floats(),
                        result.floats(),  &kZero,           &kOne,
                        nullptr};
      for (int i = 0; i < rounds(4000); ++i) serve(asked);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(foreign == 0);
}

// A split_k kernel whose first launch stores beta * C, to which slices add.
dispatch_test::Tuned adding_to_c() {
  dispatch_test::Tuned tuned = WithWorkspace::tuned();
  const auto spec = codegen::parse_spec(
      "split_k",
      "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 copy=1 "
      "fragments=1 slices=4 reduction=1",
      tuned.problem, dispatch_test::kArch);
  REQUIRE_MESSAGE(spec.has_value(), (spec ? "" : spec.error().message));
  tuned.kernel = *spec;
  return tuned;
}

TEST_CASE("what failed half way is not computed again from what it left in C") {
  for (const float& beta : {kZero, kTwo}) {
    Process process({adding_to_c()});
    process.settings.deterministic = false;
    process.library.fake.fail("cuLaunchKernelEx", CUDA_ERROR_OUT_OF_MEMORY, 1);
    const Matrix operand(1);
    const Matrix result(5);
    Asked asked = WithWorkspace::call();
    asked.product.beta = beta == 0 ? Beta::zero : Beta::other;
    asked.pointers = {
        operand.floats(), operand.floats(), result.floats(), result.floats(), &beta, &kOne,
        nullptr};
    const auto status = process.serve(asked);
    CHECK(process.library.fake.launches().size() == 1);
    CHECK((status == lt::Status::success) == (beta == 0));
    CHECK(process.handed_on == (beta == 0 ? 1 : 0));
    // Later ones are cuBLAS's.
    CHECK(process.serve(asked) == lt::Status::success);
    CHECK(process.handed_on == (beta == 0 ? 2 : 1));
  }
}

}  // namespace
}  // namespace gemmtune::cublas_preload
