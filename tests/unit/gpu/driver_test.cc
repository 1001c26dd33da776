#include <doctest/doctest.h>

#include <cstring>
#include <set>

#include "fake_driver.h"

using namespace gemmtune;  // NOLINT(google-build-using-namespace)

namespace {

Error load_error(const std::string& library) {
  gpu::DriverOptions options;
  options.library = library;
  auto driver = gpu::Driver::load(options);
  REQUIRE_FALSE(driver);
  return driver.error();
}

}  // namespace

TEST_CASE("no driver library is reported as unsupported, by name") {
  const Error error = load_error("libcuda-of-nowhere.so.1");
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(error.message == "no NVIDIA driver: libcuda-of-nowhere.so.1 not found");
}

TEST_CASE("a library that is no driver is told by its first missing symbol") {
  const Error error = load_error("libm.so.6");
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(error.message == "libm.so.6 has no cuInit: a driver for CUDA 12.0 or newer is needed");
}

TEST_CASE("a file that is no library keeps the loader's reason") {
  const Error error = load_error(GEMMTUNE_SOURCE_DIR "/CMakeLists.txt");
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(error.message.find("invalid ELF header") != std::string::npos);
}

TEST_CASE("no device, an old driver and a driver that does not start are unsupported") {
  fake_cuda::FakeCuda& fake = fake_cuda::control();
  SUBCASE("no device") {
    fake.reset(0);
    const Error error = load_error(GEMMTUNE_FAKE_CUDA);
    CHECK(error.kind == ErrorKind::unsupported);
    CHECK(error.message == "starting the NVIDIA driver failed: CUDA_ERROR_NO_DEVICE");
  }
  SUBCASE("no device, but init succeeds") {
    fake.reset(1);
    fake.fail("cuDeviceGetCount", CUDA_ERROR_NO_DEVICE);
    CHECK(load_error(GEMMTUNE_FAKE_CUDA).kind == ErrorKind::unsupported);
  }
  SUBCASE("old") {
    fake.reset(1);
    fake.set_version(11080);
    const Error error = load_error(GEMMTUNE_FAKE_CUDA);
    CHECK(error.kind == ErrorKind::unsupported);
    CHECK(error.message ==
          "the NVIDIA driver supports CUDA 11.8 only: a driver for CUDA 12.0 or newer is needed");
  }
  SUBCASE("the oldest that serves") {
    fake.reset(1);
    fake.set_version(12000);
    gpu::DriverOptions options;
    options.library = GEMMTUNE_FAKE_CUDA;
    CHECK(gpu::Driver::load(options).value()->version() == 12000);
  }
  SUBCASE("broken") {
    fake.reset(1);
    fake.fail("cuInit", CUDA_ERROR_SYSTEM_NOT_READY);
    const Error error = load_error(GEMMTUNE_FAKE_CUDA);
    CHECK(error.kind == ErrorKind::unsupported);
    CHECK(error.message == "starting the NVIDIA driver failed: CUDA error 802");
  }
}

TEST_CASE("every entry point of the table is resolved") {
  const fake_cuda::Fixture fixture;
  static_assert(sizeof(gpu::DriverApi) % sizeof(void*) == 0);
  std::vector<void*> entries(sizeof(gpu::DriverApi) / sizeof(void*));
  std::memcpy(entries.data(), &fixture.driver->api(), sizeof(gpu::DriverApi));
  const std::set<void*> distinct(entries.begin(), entries.end());
  CHECK(distinct.size() == entries.size());
  CHECK(distinct.count(nullptr) == 0);
}

TEST_CASE("devices are described in the driver's order") {
  const fake_cuda::Fixture fixture(2);
  const auto devices = fixture.driver->devices().value();
  REQUIRE(devices.size() == 2);
  const Device& device = devices[1];
  CHECK(device.ordinal == 1);
  CHECK(device.name == "Fake GPU 1");
  CHECK(device.uuid == "GPU-01182f46-5d74-8ba2-b9d0-e7fe152c435a");
  CHECK(device.arch == Arch{9, 0, false});
  CHECK(device.sm_count == 132);
  CHECK(device.memory_bytes == int64_t{8} << 30);
  CHECK(device.l2_bytes == 50 << 20);
  CHECK(device.max_smem_bytes_per_block == 227 * 1024);
  CHECK(device.clock_khz == 1980000);
  CHECK(device.memory_clock_khz == 3201000);
  CHECK(device.driver_version == 13000);
  CHECK(devices[0].uuid != devices[1].uuid);
  CHECK_FALSE(fixture.driver->device(2));
}

TEST_CASE("errors keep their code, name, text and kind") {
  const fake_cuda::Fixture fixture;
  const gpu::CudaError memory = fixture.driver->error(CUDA_ERROR_OUT_OF_MEMORY, "allocating");
  CHECK(memory.message == "allocating failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  CHECK(memory.out_of_memory());
  CHECK_FALSE(memory.context_lost());
  const gpu::CudaError crash = fixture.driver->error(CUDA_ERROR_ILLEGAL_ADDRESS, "waiting");
  CHECK(crash.context_lost());
  CHECK(crash.kind == ErrorKind::failed);
  CHECK(fixture.driver->error(CUDA_ERROR_NO_BINARY_FOR_GPU, "x").kind == ErrorKind::unsupported);
  CHECK(fixture.driver->error(static_cast<CUresult>(1001), "x").message ==
        "x failed: CUDA error 1001");
  // It passes up as a plain error.
  const Expected<int> plain = tl::unexpected(crash);
  CHECK(plain.error().message == crash.message);
  CHECK(fixture.driver->check(CUDA_SUCCESS, "x"));
}
