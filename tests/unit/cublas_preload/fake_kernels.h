#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/strategy.h"
#include "core/elements.h"
#include "dispatch/fallback.h"
#include "library_fixture.h"

// Own kernels on the fake driver, in every type.
namespace gemmtune::cublas_preload {

// An element of a matrix in memory.
inline float element(const void* matrix, int64_t index, DataType type) {
  const auto bytes = static_cast<size_t>(size_bytes(type));
  const auto* const at = static_cast<const std::byte*>(matrix) + static_cast<size_t>(index) * bytes;
  return decode(std::span(at, bytes), type).front();
}

inline void set_element(void* matrix, int64_t index, DataType type, float value) {
  const std::vector<std::byte> bytes = encode(std::span(&value, 1), type);
  std::memcpy(static_cast<std::byte*>(matrix) + static_cast<size_t>(index) * bytes.size(),
              bytes.data(), bytes.size());
}

// What a kernel with these arguments does.
inline void multiply(const GemmArgs& g, float alpha, float beta, const codegen::KernelSpec& spec) {
  const DataType result = codegen::result_type(spec);
  const KernelTraits& traits = spec.traits;
  for (int64_t z = 0; z < g.batch; ++z) {
    for (int64_t i = 0; i < g.m; ++i) {
      for (int64_t j = 0; j < g.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < g.k; ++k) {
          const int64_t a = traits.a_row_major ? i * g.lda + k : i + k * g.lda;
          const int64_t b = traits.b_row_major ? k * g.ldb + j : k + j * g.ldb;
          sum += element(g.a, z * g.stride_a + a, spec.type) *
                 element(g.b, z * g.stride_b + b, spec.type);
        }
        const int64_t at = z * g.stride_c + i * g.ldc + j;
        float value = alpha * sum;
        if (beta != 0) value += beta * element(g.c, at, result);
        if (traits.epilogue.bias == kBiasPerColumn) value += element(g.bias, j, result);
        if (traits.epilogue.bias == kBiasPerRow) value += element(g.bias, i, result);
        set_element(g.c, at, result, vendor_test::activated(traits.epilogue.activation, value));
      }
    }
  }
}

// Makes the fake driver compute what a kernel of `spec` does.
inline void define_any_kernel(fake_cuda::FakeCuda& fake, const codegen::KernelSpec& plain) {
  for (const bool device_scalars : {false, true}) {
    codegen::KernelSpec spec = plain;
    spec.device_scalars = device_scalars;
    fake.define_kernel(codegen::entry_names(spec).front(), [spec](const fake_cuda::Launch& launch) {
      if (spec.device_scalars) {
        DeviceScalarArgs args;
        REQUIRE(launch.arguments.size() == sizeof args);
        std::memcpy(&args, launch.arguments.data(), sizeof args);
        multiply(args.gemm, *args.alpha, *args.beta, spec);
      } else {
        GemmArgs args;
        REQUIRE(launch.arguments.size() == sizeof args);
        std::memcpy(&args, launch.arguments.data(), sizeof args);
        multiply(args, args.alpha, args.beta, spec);
      }
    });
  }
}

// A small kernel of the tree that is legal for `problem` (any layout).
inline codegen::KernelSpec legal_kernel(const Problem& problem) {
  const Problem form = canonical(problem);
  if (form.type == DataType::f32 && form.math == MathMode::ieee)
    return dispatch_test::naive_kernel(form);
  for (const dispatch::FallbackKernel& kernel : dispatch::fallback_kernels()) {
    const auto spec =
        codegen::parse_spec(kernel.strategy, kernel.config, form, dispatch_test::kArch);
    if (!spec || !spec->strategy->supports(form, dispatch_test::kArch)) continue;
    if (codegen::broken_rule(*spec, representative_device(dispatch_test::kArch)) == nullptr)
      return *spec;
  }
  FAIL("no kernel for " << key(form));
  return {};
}

// A result where the kernel beat the vendor.
inline dispatch_test::Tuned won_by(const Problem& problem) {
  dispatch_test::Tuned tuned;
  tuned.problem = canonical(problem);
  tuned.kernel = legal_kernel(problem);
  tuned.vendor = dispatch_test::vendor_config(1);
  return tuned;
}

// A database with `results`, a cache with their kernels, and a fake driver that computes them; with
// the driver's context current.
struct TunedLibrary : dispatch_test::Library {
  explicit TunedLibrary(const std::vector<dispatch_test::Tuned>& results) {
    database = folder.file("tuned.db");
    cache = folder.file("cache");
    dispatch_test::write_database(database, results);
    std::vector<codegen::KernelSpec> kernels;
    for (const dispatch_test::Tuned& tuned : results) {
      if (!tuned.kernel) continue;
      kernels.push_back(*tuned.kernel);
      define_any_kernel(fake, *tuned.kernel);
    }
    dispatch_test::write_cache(cache, kernels);
  }

  std::string database;
  std::string cache;
};

}  // namespace gemmtune::cublas_preload
