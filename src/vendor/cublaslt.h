#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/problem.h"
#include "gpu/context.h"
#include "gpu/cuda_error.h"

namespace gemmtune::vendor {

// cuBLASLt, opened at run time. Immutable and thread-safe; needs no device.
class CublasLtLibrary {
 public:
  // Names tried in order, newest major first.
  static std::vector<std::string> default_names();

  // One that the process has loaded already, else the first that opens.
  // ErrorKind::unsupported, with the loader's reason for each name, if none does.
  static Expected<std::shared_ptr<const CublasLtLibrary>> load(
      const std::vector<std::string>& names = default_names());
  ~CublasLtLibrary();
  CublasLtLibrary(const CublasLtLibrary&) = delete;
  CublasLtLibrary& operator=(const CublasLtLibrary&) = delete;

  int64_t version() const;          // as cublasLtGetVersion gives it, e.g. 130001
  const std::string& name() const;  // what was opened

  struct Impl;  // private to this folder
  const Impl& impl() const { return *impl_; }

 private:
  explicit CublasLtLibrary(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

struct PlanOptions {
  int max_algorithms = 64;
  int64_t max_workspace_bytes = int64_t{64} << 20;
  bool device_scalars = false;  // alpha and beta are read from device memory when the product runs
};

// Device addresses of one product, and its scalars. The workspace must be aligned to 256 bytes.
struct MatmulArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;  // read only when beta != 0
  float alpha = 1.0F;
  float beta = 0.0F;
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;
  // In place of alpha and beta for a plan with PlanOptions::device_scalars: device addresses of
  // f32.
  const float* alpha_device = nullptr;
  const float* beta_device = nullptr;
  const void* bias = nullptr;      // of a problem that has one: a multiple of kBiasAlignment
  const float* scale_a = nullptr;  // of a problem whose operands are scaled
  const float* scale_b = nullptr;
};

// Bytes that the address of a bias must be a multiple of. cuBLASLt cannot be told the alignment of
// a bias, and has kernels that read it by 16 bytes: PyTorch met one
// (https://github.com/pytorch/pytorch/pull/194497).
inline constexpr uintptr_t kBiasAlignment = 16;

// ErrorKind::unsupported where cuBLASLt has no such epilogue. It has scales of 8-bit operands (of
// rows and blocks from 12.9 on, which this does not look at), a bias per column of a row-major C
// (per row of a column-major one), ReLU and GELU by tanh.
Expected<void> check_epilogue(const Problem& problem);

class CublasLt;

// One problem, ready to run with any of the algorithms that the heuristic returned, best guess
// first: algorithm 0 is what a program that calls cuBLASLt gets. Move-only. run() may be called
// from several threads.
class MatmulPlan {
 public:
  MatmulPlan(MatmulPlan&&) noexcept;
  MatmulPlan& operator=(MatmulPlan&&) noexcept;
  ~MatmulPlan();

  int algorithms() const;  // at least 1
  int64_t workspace_bytes(int index) const;
  int64_t max_workspace_bytes() const;  // over all algorithms

  // "algo=21 tile=128x256 stages=64x4 cluster=2x1x1 splitk=1 reduction=0 swizzle=0 custom=0"; a
  // value this version has no name for is a number ("tile=#612").
  std::string describe(int index) const;

  // The first algorithm whose describe() is `description`, else -1.
  int find(std::string_view description) const;

  // Enqueues the product on `stream`; the context must be current. Allocates nothing and is legal
  // under stream capture. ErrorKind::usage if the index, the workspace or the bias does not serve.
  gpu::Result<void> run(int index, CUstream stream, const MatmulArgs& args) const;

 private:
  friend class CublasLt;
  struct Impl;
  explicit MatmulPlan(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// A cuBLASLt handle in one context. Thread-safe. After Context::reset() it is dead, as are its
// plans: create a new one in the new context.
class CublasLt {
 public:
  static Expected<CublasLt> create(std::shared_ptr<const CublasLtLibrary> library,
                                   std::shared_ptr<const gpu::Context> context);

  // Descriptors and algorithms for `problem` (any layout; MatmulArgs follow its a, b and c).
  // Problem::align_bytes is what the algorithms may assume of the pointers. ErrorKind::unsupported
  // if cuBLASLt has no algorithm for it, lacks its epilogue (see check_epilogue()), or wants device
  // scalars of another type than f32. Math:
  // ieee is plain f32 arithmetic; tf32 and f16 are the fast modes; tf32x3, which cuBLASLt lacks, is
  // compared with its plain f32. Of 8-bit operands it promotes sums with ieee, and not with
  // fast_accum; it has no product of two e5m2.
  Expected<MatmulPlan> plan(const Problem& problem, const PlanOptions& options = {}) const;

  const CublasLtLibrary& library() const;

  struct Handle;  // private to this folder

 private:
  explicit CublasLt(std::shared_ptr<const Handle> handle);

  std::shared_ptr<const Handle> handle_;
};

}  // namespace gemmtune::vendor
