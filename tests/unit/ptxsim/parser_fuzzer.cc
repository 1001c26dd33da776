// libFuzzer target: build with clang and GEMMTUNE_FUZZERS, run on the kernels/ folder as corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!gemmtune::ptxsim::testing::fuzz_one({reinterpret_cast<const char*>(data), size})) {
    std::abort();
  }
  return 0;
}
