// A kernel that crashes: told from other failures, and survived by a reset.
#include <doctest/doctest.h>

#include "device_fixture.h"
#include "gpu/memory.h"
#include "vendor/cublaslt.h"

using namespace gemmtune;            // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu_test;  // NOLINT(google-build-using-namespace)

namespace {

void run_scale(const std::shared_ptr<Context>& context) {
  const auto stream = Stream::create(context).value();
  const auto module = load_ptx(context).value();
  const auto function = module.function("scale").value();
  const auto buffer = DeviceBuffer::allocate(context, sizeof(float)).value();
  const auto scope = context->enter();
  float value = 21;
  const auto bytes = std::as_writable_bytes(std::span<float, 1>(&value, 1));
  REQUIRE(buffer.copy_from_host(stream.handle(), bytes));
  const ScaleArguments arguments{static_cast<float*>(buffer.data()), 1, 2};
  REQUIRE(function.launch({}, stream.handle(), arguments));
  REQUIRE(buffer.copy_to_host(stream.handle(), bytes));
  REQUIRE(stream.synchronize());
  CHECK(value == 42);
}

// 1x1x1 products are of no use to a crashed library: 64^3 of ones, so that C is 64 everywhere.
void run_cublaslt(const std::shared_ptr<const vendor::CublasLtLibrary>& library,
                  const std::shared_ptr<Context>& context) {
  const auto cublas = vendor::CublasLt::create(library, context).value();
  const auto plan = cublas.plan(make_problem({64, 64, 64})).value();
  const auto stream = Stream::create(context).value();
  const size_t bytes = 64 * 64 * sizeof(float);
  const auto ones = DeviceBuffer::allocate(context, bytes).value();
  const auto c = DeviceBuffer::allocate(context, bytes).value();
  const auto workspace =
      DeviceBuffer::allocate(context, static_cast<size_t>(plan.max_workspace_bytes())).value();
  const auto scope = context->enter();
  REQUIRE(ones.fill_words(stream.handle(), 0x3f800000));
  vendor::MatmulArgs args;
  args.a = args.b = ones.data();
  args.c = c.data();
  args.workspace = workspace.data();
  args.workspace_bytes = plan.max_workspace_bytes();
  REQUIRE(plan.run(0, stream.handle(), args));
  std::vector<float> back(64 * 64);
  REQUIRE(c.copy_to_host(stream.handle(), std::as_writable_bytes(std::span(back))));
  REQUIRE(stream.synchronize());
  CHECK(back == std::vector<float>(64 * 64, 64.0F));
}

CudaError crash(const std::shared_ptr<Context>& context) {
  const auto stream = Stream::create(context).value();
  const auto module = load_ptx(context).value();
  const auto function = module.function("crash").value();
  const auto scope = context->enter();
  REQUIRE(function.launch_raw({}, stream.handle(), {}));
  const auto waited = stream.synchronize();
  REQUIRE_FALSE(waited);
  return waited.error();
}

}  // namespace

TEST_CASE("kernels run again after a crash and a reset, several times") {
  const auto driver = gpu_test::driver();
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    const auto context = Context::retain(driver, 0).value();
    run_scale(context);
    const CudaError error = crash(context);
    MESSAGE(error.message);
    CHECK(error.context_lost());
    CHECK(DeviceBuffer::allocate(context, 1024).error().context_lost());
    const auto reset = context->reset();
    if (!reset) MESSAGE(reset.error().message);
    CHECK(context->lost());
  }
  run_scale(Context::retain(driver, 0).value());
}

TEST_CASE("cuBLASLt works again after a crash and a reset") {
  const auto driver = gpu_test::driver();
  const auto library = vendor::CublasLtLibrary::load();
  if (!library) {
    MESSAGE(library.error().message);
    return;
  }
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    const auto context = Context::retain(driver, 0).value();
    run_cublaslt(*library, context);
    CHECK(crash(context).context_lost());
    static_cast<void>(context->reset());
  }
  run_cublaslt(*library, Context::retain(driver, 0).value());
}
