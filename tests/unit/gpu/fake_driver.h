#pragma once

#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fake_cuda.h"
#include "gpu/context.h"
#include "gpu/driver.h"

namespace gemmtune::fake_cuda {

// The control of the fake driver library, opened as Driver opens it.
inline FakeCuda& control() {
  void* library = dlopen(GEMMTUNE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* get = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "gemmtune_fake_cuda"));
  FakeCuda* fake = get();
  dlclose(library);
  return *fake;
}

// A fresh fake driver for one test, loaded the way the real one is.
struct Fixture {
  // Of the driver's own version if `version` is 0.
  explicit Fixture(int devices = 1, int version = 0) : fake(control()) {
    fake.reset(devices);
    if (version != 0) fake.set_version(version);
    gpu::DriverOptions options;
    options.library = GEMMTUNE_FAKE_CUDA;
    options.on_cleanup_error = [errors = cleanup_errors](const gpu::CudaError& error) {
      errors->push_back(error.message);
    };
    driver = gpu::Driver::load(options).value();
  }

  std::shared_ptr<gpu::Context> retain(int ordinal = 0) const {
    return gpu::Context::retain(driver, ordinal).value();
  }

  FakeCuda& fake;
  std::shared_ptr<std::vector<std::string>> cleanup_errors =
      std::make_shared<std::vector<std::string>>();
  std::shared_ptr<const gpu::Driver> driver;
};

}  // namespace gemmtune::fake_cuda
