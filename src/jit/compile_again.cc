#include "jit/compile_again.h"

#include <fmt/format.h>

namespace gemmtune::jit {

bool was_killed(const CompileResult& result) {
  return !result && result.error().phase == CompilePhase::process;
}

Error killed_error(const CompileFailure& failure) {
  return {ErrorKind::failed,
          fmt::format("compilers are killed again and again, perhaps for want of memory ({}); free "
                      "memory or let fewer threads compile, and run again: what was stored stays",
                      failure.first_error)};
}

Expected<CompileResult> compile_again(const KernelCompiler& compiler,
                                      const CompileRequest& request) {
  for (int times = 1;; ++times) {
    auto result = compiler.compile(request);
    if (!was_killed(result)) return result;
    if (times == kMostTimesKilled) return tl::unexpected(killed_error(result.error()));
  }
}

}  // namespace gemmtune::jit
