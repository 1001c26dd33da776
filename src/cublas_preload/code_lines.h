#pragma once

#include <cstddef>

// A call that is handed on takes some twenty-five lines of code and a few of data, which a program
// has pushed out of the processor's nearest caches since its last product. To wait for one after
// the other costs more than all else about the call (docs/run.md, "What it costs"). So its code is
// asked for at once, and the variables that every call needs lie side by side.
namespace gemmtune::cublas_preload {

// For functions that every call of cublasLtMatmul needs: they lie side by side.
#define GEMMTUNE_CODE_OF_MATMUL [[gnu::section("gemmtune_matmul")]]
// For variables that every call needs.
#define GEMMTUNE_STATE_OF_CALLS [[gnu::section("gemmtune_state_of_calls")]]

inline constexpr size_t kCacheLine = 64;

// Has the processor fetch `kLines` lines from `from` on. What they are is not looked at: a line
// that is not there is passed over.
template <size_t kLines>
[[gnu::always_inline]] inline void fetch_lines(const char* from) {
#pragma GCC unroll 16
  for (size_t i = 0; i < kLines; ++i) __builtin_prefetch(from + i * kCacheLine);
}

// The code of the entry point that it is called in, from there on.
[[gnu::always_inline]] inline void fetch_entry_point() {
#if defined(__x86_64__)
  constexpr size_t kLines = 15;  // of 960 to 1,200 bytes
  const char* here = nullptr;
  __asm__("lea (%%rip), %0" : "=r"(here));
  fetch_lines<kLines>(here + kCacheLine);
#endif
}

// Where GEMMTUNE_CODE_OF_MATMUL begins, by the linker.
extern "C"
    [[gnu::visibility("hidden")]] const char kCodeOfMatmul[] __asm__("__start_gemmtune_matmul");

[[gnu::always_inline]] inline void fetch_code_of_matmul() {
  constexpr size_t kLines = 13;  // of 763 bytes, from anywhere in a line on
  fetch_lines<kLines>(kCodeOfMatmul);
}

}  // namespace gemmtune::cublas_preload
