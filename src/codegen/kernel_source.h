#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gemmtune::codegen {

// A header that a kernel includes, by the name it is included under.
struct SourceHeader {
  std::string name;
  std::string text;
};

// Everything the compiler needs for one kernel but the arch. Identical text compiles to identical
// code, so a cache may be keyed by it.
struct KernelSource {
  std::string name;  // readable, e.g. "double_buffer_f32_ttt_128x128x8": names the translation unit
  std::string text;  // the translation unit
  std::vector<SourceHeader> headers;
  std::vector<std::string> entries;  // the extern "C" kernels it defines
  std::vector<std::string> options;  // extra compiler options, e.g. "--maxrregcount=128"
};

// ContentHash of the options, the text, and what it uses of the headers (keep_used()), as 32 hex
// digits: the source hash that records carry. Comments, blanks and declarations that are not used
// make no difference, nor does which header a declaration is in. For any thread; what was found of
// headers is remembered, so that kernels which use the same of them cost little more than their own
// text.
std::string source_hash(const KernelSource& source);

}  // namespace gemmtune::codegen
