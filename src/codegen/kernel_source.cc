#include "codegen/kernel_source.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "codegen/source_pruning.h"
#include "codegen/source_tokens.h"
#include "core/content_hash.h"

namespace gemmtune::codegen {
namespace {

// Hashes of what texts use of headers. For any thread.
class UsedHeaders {
 public:
  std::string hash(const KernelSource& source) {
    ContentHash all;
    for (const SourceHeader& header : source.headers) all.add(header.name).add(header.text);
    const std::lock_guard lock(mutex_);
    Known& known = known_[all.hex()];
    if (known.parts.size() != source.headers.size()) {
      known.parts = split(source.headers);
      known.names = names_in(known.parts);
    }
    std::string& hash = known.hashes[deciding_words(known.names, source.text)];
    if (hash.empty()) hash = ContentHash().add(canonical_used(known.parts, source.text)).hex();
    return hash;
  }

 private:
  struct Known {
    SplitParts parts;
    std::set<std::string, std::less<>> names;             // in the parts
    std::map<std::set<std::string>, std::string> hashes;  // by the words that decide
  };

  // Kernels share most of their headers.
  SplitParts split(const std::vector<SourceHeader>& headers) {
    SplitParts parts;
    for (const SourceHeader& header : headers) {
      auto& part = parts_[ContentHash().add(header.text).hex()];
      if (!part) part = split_part({header.name, header.text});
      parts.push_back(part);
    }
    return parts;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SplitPart>> parts_;  // by their texts' hashes
  std::map<std::string, Known> known_;                             // by the headers' hash
};

}  // namespace

std::string source_hash(const KernelSource& source) {
  static UsedHeaders used;
  ContentHash hash;
  hash.add(canonical_text(source.text)).add(used.hash(source));
  for (const std::string& option : source.options) hash.add(option);
  return hash.hex();
}

}  // namespace gemmtune::codegen
