#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "gemmtune/gemmtune.h"

namespace gemmtune::python {

// A failure of the library, with what it says.
class LibraryError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where decisions and kernels come from; empty texts: not given.
struct LibraryOptions {
  std::string database;
  std::string pack;
  std::string cache_dir;
  std::string nvrtc;
  std::string driver;
  std::string cublaslt;
  int device = GEMMTUNE_CURRENT_DEVICE;
  uint32_t flags = 0;
  int64_t max_workspace_bytes = GEMMTUNE_DEFAULT_MAX_WORKSPACE_BYTES;
};

// Addresses of one product's operands.
struct Operands {
  uintptr_t a = 0;
  uintptr_t b = 0;
  uintptr_t c = 0;
  uintptr_t bias = 0;
  uintptr_t workspace = 0;
  size_t workspace_bytes = 0;
};

// A handle of libgemmtune. Thread-safe, as that is. Failures are LibraryError.
class Library {
 public:
  explicit Library(const LibraryOptions& options);

  // Gets the problem ready to run. Bytes of workspace that it takes.
  size_t prepare(const gemmtune_problem& problem);
  // Enqueues C = activation(alpha A B + beta C + bias).
  void run(const gemmtune_problem& problem, const Operands& operands, float alpha, float beta,
           uintptr_t stream);
  // What is run, and why, as JSON.
  std::string explain(const gemmtune_problem& problem);

 private:
  void check(gemmtune_status status) const;

  struct Destroy {
    void operator()(gemmtune_handle handle) const { gemmtune_destroy(handle); }
  };
  std::unique_ptr<gemmtune_handle_struct, Destroy> handle_;
};

}  // namespace gemmtune::python
