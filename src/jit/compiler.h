#pragma once

#include <memory>
#include <utility>

#include "jit/compile.h"
#include "jit/cubin_cache.h"
#include "jit/nvrtc.h"

namespace gemmtune::jit {

// What makes machine code of sources. Implementations are thread-safe.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;

  virtual NvrtcVersion version() const = 0;
  // As Nvrtc::check_arch.
  virtual Expected<void> check_arch(Arch arch) const = 0;
  virtual CompileResult compile(const CompileRequest& request) const = 0;
};

// NVRTC behind the cache: what everything above uses. Thread-safe.
class Compiler final : public KernelCompiler {
 public:
  // `cache` may be null: every request then compiles. `compile` makes machine code as `nvrtc` does,
  // in another place; empty: `nvrtc` does, in the calling thread.
  explicit Compiler(Nvrtc nvrtc, std::shared_ptr<CubinCache> cache = nullptr,
                    CompileFunction compile = {})
      : nvrtc_(std::move(nvrtc)), cache_(std::move(cache)), compile_(std::move(compile)) {}

  const Nvrtc& nvrtc() const { return nvrtc_; }
  CubinCache* cache() const { return cache_.get(); }

  NvrtcVersion version() const override { return nvrtc_.version(); }
  Expected<void> check_arch(Arch arch) const override { return nvrtc_.check_arch(arch); }

  // From the cache if it is there, else compiled and stored. A cache that cannot be written is no
  // failure.
  CompileResult compile(const CompileRequest& request) const override;
  PtxResult compile_to_ptx(const CompileRequest& request) const;

 private:
  CompileResult compile_anew(const CompileRequest& request) const;

  Nvrtc nvrtc_;
  std::shared_ptr<CubinCache> cache_;
  CompileFunction compile_;
};

}  // namespace gemmtune::jit
