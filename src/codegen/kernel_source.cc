#include "codegen/kernel_source.h"

#include <fmt/format.h>

#include <string_view>

namespace gemmtune::codegen {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo).
uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  hash ^= 0xff;  // ends each text, so that ("ab", "c") and ("a", "bc") differ
  return hash * 0x100000001b3ull;
}

}  // namespace

std::string source_hash(const KernelSource& source) {
  uint64_t hash = fnv1a(source.text, 0xcbf29ce484222325ull);
  for (const SourceHeader& header : source.headers) {
    hash = fnv1a(header.text, fnv1a(header.name, hash));
  }
  for (const std::string& option : source.options) hash = fnv1a(option, hash);
  return fmt::format("{:016x}", hash);
}

}  // namespace gemmtune::codegen
