#include "codegen/kernel_source.h"

#include "core/content_hash.h"

namespace gemmtune::codegen {

std::string source_hash(const KernelSource& source) {
  ContentHash hash;
  hash.add(source.text);
  hash.add(uint64_t{source.headers.size()});
  for (const SourceHeader& header : source.headers) hash.add(header.name).add(header.text);
  for (const std::string& option : source.options) hash.add(option);
  return hash.hex();
}

}  // namespace gemmtune::codegen
