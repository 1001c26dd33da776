#pragma once

namespace gemmtune::cli {

// The first argument of a process that compiles for a command. It is for gemm-tune itself, so
// --help does not name it.
inline constexpr char kCompileCommand[] = "compile-worker";

// What such a process does, and the exit code that it ends with.
int compile_worker();

}  // namespace gemmtune::cli
