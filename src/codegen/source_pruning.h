#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gemmtune::codegen {

// A file of the kernels' templates as it goes into a translation unit: without includes.
struct SourcePart {
  std::string path;
  std::string text;

  bool operator==(const SourcePart&) const = default;
};

// Those top-level declarations of the parts, in their order and with their comments, that
// `user` names, itself or through declarations that it names. Parts of which nothing is left are
// left out. Works on names, not on types: what has the same name as something that is used stays.
// So more may be kept than a compiler needs, but nothing less. Parts that cannot be told apart into
// declarations stay whole.
std::vector<SourcePart> keep_used(const std::vector<SourcePart>& parts, std::string_view user);

}  // namespace gemmtune::codegen
