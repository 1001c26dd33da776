#pragma once

#include "core/error.h"
#include "jit/compiler.h"

namespace gemmtune::jit {

// How often a source is compiled at most, where what compiles is killed.
inline constexpr int kMostTimesKilled = 3;

// Whether what compiled was killed: that says nothing of the source, and is not recorded.
bool was_killed(const CompileResult& result);

// That compilers are killed again and again, the last one as `failure` has it, and what to do.
Error killed_error(const CompileFailure& failure);

// Compiles up to kMostTimesKilled times where what compiles is killed; killed_error() if it always
// was.
Expected<CompileResult> compile_again(const KernelCompiler& compiler,
                                      const CompileRequest& request);

}  // namespace gemmtune::jit
