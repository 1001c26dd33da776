// libFuzzer target of the pack reader.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pack_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!gemmtune::dispatch_test::fuzz_pack({reinterpret_cast<const char*>(data), size}))
    std::abort();
  return 0;
}
