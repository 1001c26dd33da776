// g++ compiles such a function for several x86-64 levels and chooses at load time, so that a build
// that runs anywhere uses the host's widest vectors. The level does not change a result.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define GEMMTUNE_TARGET_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GEMMTUNE_TARGET_CLONES
#endif
