#include "jit/compiler.h"

namespace gemmtune::jit {

CompileResult Compiler::compile(const CompileRequest& request) const {
  if (!cache_) return compile_anew(request);
  const CacheKey key = cache_key(nvrtc_, request);
  if (auto hit = cache_->load(key)) {
    hit->name = request.source.name;
    return *std::move(hit);
  }
  CompileResult result = compile_anew(request);
  if (result && cache_->store(key, *result))  // the cache itself warns
    static_cast<void>(cache_->remember(request, key));
  return result;
}

CompileResult Compiler::compile_anew(const CompileRequest& request) const {
  return compile_ ? compile_(request) : jit::compile(nvrtc_, request);
}

PtxResult Compiler::compile_to_ptx(const CompileRequest& request) const {
  if (!cache_) return jit::compile_to_ptx(nvrtc_, request);
  const CacheKey key = cache_key(nvrtc_, request, true);
  if (auto hit = cache_->load_ptx(key)) {
    hit->name = request.source.name;
    return *std::move(hit);
  }
  PtxResult result = jit::compile_to_ptx(nvrtc_, request);
  if (result) static_cast<void>(cache_->store(key, *result));
  return result;
}

}  // namespace gemmtune::jit
