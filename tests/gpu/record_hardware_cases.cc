// Runs the simulator's hardware cases on device 0 and writes what the device computed:
//   record_hardware_cases FOLDER          (tests/sim/hardware/expected, to be committed)
// Run once for each new instruction; ptxsim_hardware_test then holds the simulator to it.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cases.h"
#include "gpu/context.h"
#include "gpu/driver.h"
#include "gpu/function.h"
#include "gpu/memory.h"
#include "gpu/module.h"
#include "gpu/stream.h"

namespace {

using namespace gemmtune;  // NOLINT(google-build-using-namespace)
using ptxsim::hardware::Case;

struct Arguments {
  CUdeviceptr in;
  CUdeviceptr out;
};

gpu::Result<std::vector<std::byte>> run_case(const std::shared_ptr<gpu::Context>& context,
                                             const Case& test) {
  auto stream = gpu::Stream::create(context);
  if (!stream) return tl::unexpected(stream.error());
  auto module = gpu::Module::load(context, std::as_bytes(std::span(test.ptx)));
  if (!module) return tl::unexpected(module.error());
  auto function = module->function("test");
  if (!function) return tl::unexpected(function.error());
  auto in = gpu::DeviceBuffer::allocate(context, test.input.size());
  if (!in) return tl::unexpected(in.error());
  auto out = gpu::DeviceBuffer::allocate(context, test.output_bytes);
  if (!out) return tl::unexpected(out.error());
  auto entered = context->enter();
  if (!entered) return tl::unexpected(entered.error());
  std::vector<std::byte> result(test.output_bytes);
  const Arguments arguments{in->address(), out->address()};
  const LaunchConfig config{{test.grid, 1, 1}, {test.block, 1, 1}, {}, 0};
  if (auto r = in->copy_from_host(stream->handle(), test.input); !r)
    return tl::unexpected(r.error());
  if (auto r = out->fill_bytes(stream->handle(), 0); !r) return tl::unexpected(r.error());
  const auto raw = std::as_bytes(std::span(&arguments, 1));
  if (auto r = function->launch_raw(config, stream->handle(), raw); !r)
    return tl::unexpected(r.error());
  if (auto r = out->copy_to_host(stream->handle(), result); !r) return tl::unexpected(r.error());
  if (auto r = stream->synchronize(); !r) return tl::unexpected(r.error());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: record_hardware_cases FOLDER\n");
    return 2;
  }
  const auto driver = gpu::Driver::load();
  if (!driver) {
    fmt::print(stderr, "{}\n", driver.error().message);
    return 1;
  }
  const auto context = gpu::Context::retain(*driver, 0);
  if (!context) {
    fmt::print(stderr, "{}\n", context.error().message);
    return 1;
  }
  std::filesystem::create_directories(argv[1]);
  int failed = 0;
  int recorded = 0;
  for (const Case& test : ptxsim::hardware::all_cases()) {
    const auto result = run_case(*context, test);
    if (result) {
      ptxsim::hardware::write_expected(argv[1], test, *result);
      ++recorded;
    } else {
      fmt::print(stderr, "{}: {}\n", test.name, result.error().message);
      ++failed;
    }
  }
  fmt::print("{} recorded, {} failed\n", recorded, failed);
  return failed == 0 ? 0 : 1;
}
