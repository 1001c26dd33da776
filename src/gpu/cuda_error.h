#pragma once

#include <string>
#include <utility>

#include "core/error.h"

namespace gemmtune::gpu {

// A failure of this folder: an Error (so it passes up through any function that returns Expected)
// that also knows which driver error it was.
//
// Three cases matter to a caller that wants to go on:
//   context_lost()   a kernel crashed (illegal address, trap, hang caught by the watchdog ...). The
//                    driver repeats such an error for every later call in the context, so nothing
//                    in it can be trusted. Call Context::reset(), drop all handles made in it, and
//                    retain a new one.
//   out_of_memory()  nothing was allocated, everything else still works.
//   any other        this call failed, the context is fine.
struct CudaError : Error {
  CudaError(ErrorKind error_kind, std::string text, int cuda_code = 0) : code(cuda_code) {
    kind = error_kind;
    message = std::move(text);
  }
  // An error from outside the driver (code 0), so that callables may fail for reasons of their own.
  // NOLINTNEXTLINE(google-explicit-constructor)
  CudaError(Error error) : Error(std::move(error)) {}

  bool context_lost() const;
  bool out_of_memory() const;

  int code = 0;  // the CUresult; 0 if the driver was not what failed
};

template <class T>
using Result = tl::expected<T, CudaError>;

inline tl::unexpected<CudaError> cuda_error(ErrorKind kind, std::string message, int code = 0) {
  return tl::unexpected<CudaError>(CudaError(kind, std::move(message), code));
}

}  // namespace gemmtune::gpu
