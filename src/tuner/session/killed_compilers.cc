#include "tuner/session/killed_compilers.h"

#include <fmt/format.h>

namespace gemmtune::tuner {
namespace {

constexpr int kMostTimes = 3;   // that one candidate is compiled
constexpr int kMostInARow = 8;  // of any candidates

Error killed_error(const jit::CompileFailure& failure) {
  return {ErrorKind::failed,
          fmt::format("compilers are killed again and again, perhaps for want of memory ({}); free "
                      "memory or let fewer threads compile, and run again: what was measured is "
                      "stored",
                      failure.first_error)};
}

}  // namespace

bool was_killed(const jit::CompileResult& result) {
  return !result && result.error().phase == jit::CompilePhase::process;
}

Expected<bool> KilledCompilers::again(const store::CandidateKey& key,
                                      const jit::CompileFailure& failure) {
  error_ = killed_error(failure);
  if (++in_a_row_ >= kMostInARow) return tl::unexpected(*error_);
  return ++times_[key] < kMostTimes;
}

Expected<jit::CompileResult> compile_again(const jit::KernelCompiler& compiler,
                                           const jit::CompileRequest& request) {
  for (int times = 1;; ++times) {
    auto result = compiler.compile(request);
    if (!was_killed(result)) return result;
    if (times == kMostTimes) return tl::unexpected(killed_error(result.error()));
  }
}

}  // namespace gemmtune::tuner
