#pragma once

#include <dlfcn.h>

#include <memory>
#include <stdexcept>

#include "fake_cublaslt.h"
#include "fake_driver.h"
#include "reference_problem.h"
#include "vendor/cublaslt.h"

namespace gemmtune::vendor_test {

inline fake_cublaslt::Control& fake_control() {
  void* library = dlopen(GEMMTUNE_FAKE_CUBLASLT, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* get =
      reinterpret_cast<fake_cublaslt::Control* (*)()>(dlsym(library, "gemmtune_fake_cublaslt"));
  dlclose(library);
  return *get();
}

// A fake driver and a fake cuBLASLt, fresh.
struct Vendor : fake_cuda::Fixture {
  Vendor() : blas(fake_control()) { blas = {}; }

  Expected<vendor::CublasLt> create() const {
    return vendor::CublasLt::create(vendor::CublasLtLibrary::load({GEMMTUNE_FAKE_CUBLASLT}).value(),
                                    context);
  }

  fake_cublaslt::Control& blas;
  std::shared_ptr<gpu::Context> context = retain();
};

// The device addresses are host addresses in the fake driver, which host vectors serve as well.
inline vendor::MatmulArgs args_of(Operands& operands, float alpha, float beta) {
  vendor::MatmulArgs args;
  args.a = operands.a.data();
  args.b = operands.b.data();
  args.c = operands.c.data();
  args.alpha = alpha;
  args.beta = beta;
  return args;
}

}  // namespace gemmtune::vendor_test
