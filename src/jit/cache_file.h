#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jit/compile.h"

namespace gemmtune::jit {

// The file format of the kernel cache. Numbers are little-endian; a text is its size (u32) and its
// bytes.
//
//   magic      8 bytes  "gemmtune"
//   version    u32      kCacheFormat
//   kind       u32      1 machine code, 2 PTX
//   key        text     32 hex digits: a file that was renamed by hand is not trusted
//   name       text
//   arch       u32 major, u32 minor, u32 specific
//   compile_ms f64
//   entries    u32 count, then per entry: text, 7 x i32 in the order of ResourceUsage
//   warnings   u32 count, then texts
//   payload    text     the cubin or the PTX
//   checksum   u64      of every byte before it
inline constexpr uint32_t kCacheFormat = 2;

std::string encode(std::string_view key, const CompiledKernel& kernel);
std::string encode(std::string_view key, const PtxText& ptx);

// Empty for anything that encode() did not write for this key, whatever the bytes.
std::optional<CompiledKernel> decode_kernel(std::string_view key, std::string_view bytes);
std::optional<PtxText> decode_ptx(std::string_view key, std::string_view bytes);

}  // namespace gemmtune::jit
