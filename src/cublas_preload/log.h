#pragma once

namespace gemmtune::cublas_preload {

// Writes a line to stderr, the first time that a process has anything to say here. printf's format.
[[gnu::format(printf, 1, 2)]] void log_once(const char* format, ...);

}  // namespace gemmtune::cublas_preload
