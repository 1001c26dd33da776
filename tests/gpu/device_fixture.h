#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "gpu/context.h"
#include "gpu/driver.h"
#include "gpu/module.h"
#include "gpu/stream.h"

namespace gemmtune::gpu_test {

// The real driver. Where there is no device the whole test process is skipped; set
// GEMM_TUNE_TEST_REQUIRE_GPU where that would hide a mistake.
inline std::shared_ptr<const gpu::Driver> driver() {
  auto loaded = gpu::Driver::load();
  if (loaded) return *loaded;
  const bool required = std::getenv("GEMM_TUNE_TEST_REQUIRE_GPU") != nullptr;
  std::printf("%s: %s\n", required ? "failed" : "skipped", loaded.error().message.c_str());
  std::exit(required || loaded.error().kind != ErrorKind::unsupported ? 1 : 77);
}

// Device 0, its context and a stream.
struct DeviceFixture {
  std::shared_ptr<const gpu::Driver> driver = gpu_test::driver();
  Device device = driver->device(0).value();
  std::shared_ptr<gpu::Context> context = gpu::Context::retain(driver, 0).value();
  gpu::Stream stream = gpu::Stream::create(context).value();
};

// The parameter of the kernels below.
struct ScaleArguments {
  float* data = nullptr;
  int count = 0;
  float factor = 0;
};

// scale: data[i] *= factor for i < count. crash: writes to address 16.
inline constexpr std::string_view kPtx = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .align 8 .b8 args[16]) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .pred %p;
  ld.param.u64 %rd1, [args];
  ld.param.u32 %r1, [args+8];
  ld.param.f32 %f1, [args+12];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p ret;
  mul.wide.s32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
.visible .entry crash() {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, 16;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)ptx";

inline gpu::Result<gpu::Module> load_ptx(const std::shared_ptr<gpu::Context>& context) {
  return gpu::Module::load(context, std::as_bytes(std::span(kPtx)));
}

}  // namespace gemmtune::gpu_test
