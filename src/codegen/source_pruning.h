#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
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

// A part, told apart into its declarations, for many users of it.
struct SplitPart;
std::shared_ptr<const SplitPart> split_part(const SourcePart& part);
using SplitParts = std::vector<std::shared_ptr<const SplitPart>>;

// Parts of earlier calls of keep_used(), by their texts, which need not be told apart again.
using KnownParts = std::map<std::string, std::shared_ptr<const SplitPart>, std::less<>>;

// Those declarations of the parts, in their order and with their comments, that `user` names,
// itself or through declarations that it names; of classes, all fields and those other members that
// are named. Parts of which nothing is left are left out. Works on names, not on types: what has
// the same name as something that is used stays. So more may be kept than a compiler needs, but
// nothing less. Parts that cannot be told apart into declarations stay whole.
std::vector<SourcePart> keep_used(const std::vector<SourcePart>& parts, std::string_view user,
                                  KnownParts& known);

// What keep_used() keeps of the parts, as canonical text (source_tokens.h).
std::string canonical_used(const SplitParts& parts, std::string_view user);

// What may stay or go of the parts, by name.
std::set<std::string, std::less<>> names_in(const SplitParts& parts);

// The words of `user` that keep_used() decides by, those behind a dot with it: with the same words
// it keeps the same. `names` are those in the parts.
std::set<std::string> deciding_words(const std::set<std::string, std::less<>>& names,
                                     std::string_view user);

}  // namespace gemmtune::codegen
