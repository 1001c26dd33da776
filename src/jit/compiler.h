#pragma once

#include <memory>

#include "jit/compile.h"
#include "jit/cubin_cache.h"
#include "jit/nvrtc.h"

namespace gemmtune::jit {

// NVRTC behind the cache: what everything above uses. Thread-safe.
class Compiler {
 public:
  // `cache` may be null: every request then compiles.
  explicit Compiler(Nvrtc nvrtc, std::shared_ptr<CubinCache> cache = nullptr)
      : nvrtc_(std::move(nvrtc)), cache_(std::move(cache)) {}

  const Nvrtc& nvrtc() const { return nvrtc_; }
  CubinCache* cache() const { return cache_.get(); }

  // From the cache if it is there, else compiled and stored. A cache that cannot be written is no
  // failure.
  CompileResult compile(const CompileRequest& request) const;
  PtxResult compile_to_ptx(const CompileRequest& request) const;

 private:
  Nvrtc nvrtc_;
  std::shared_ptr<CubinCache> cache_;
};

}  // namespace gemmtune::jit
