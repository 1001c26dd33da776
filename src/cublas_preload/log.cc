#include "cublas_preload/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace gemmtune::cublas_preload {

void log_once(const char* format, ...) {
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  std::array<char, 512> text{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "gemm-tune: process %d: %s\n", static_cast<int>(::getpid()), text.data());
}

}  // namespace gemmtune::cublas_preload
