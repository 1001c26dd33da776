#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/error.h"
#include "gemmtune/gemmtune.h"
#include "gpu/cuda_error.h"

namespace gemmtune::dispatch {

// What a function of the C interface returns when it fails, and gemmtune_last_error() then says.
struct Failure {
  gemmtune_status status = GEMMTUNE_STATUS_INTERNAL;
  std::string message;
  bool c_changed = false;  // some of the product was enqueued, and C is written
};

template <class T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(gemmtune_status status, std::string message) {
  return tl::unexpected<Failure>(Failure{status, std::move(message)});
}

// What the driver, or cuBLASLt, reported.
inline tl::unexpected<Failure> fail(const gpu::CudaError& error) {
  return fail(error.out_of_memory() ? GEMMTUNE_STATUS_OUT_OF_MEMORY : GEMMTUNE_STATUS_CUDA,
              error.message);
}

}  // namespace gemmtune::dispatch
