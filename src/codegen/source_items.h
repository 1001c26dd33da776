#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gemmtune::codegen {

// A declaration or macro of a CUDA C++ source, at the level of namespaces or in a class, or one of
// the lines around several of them. The texts of all items, one after the other, are the source.
struct SourceItem {
  enum class Kind {
    declaration,
    open,    // "namespace gemmtune {", "#if ..."
    middle,  // "#else", "#elif ..."
    close,   // "}", "#endif"
    label,   // "private:"
  };

  Kind kind = Kind::declaration;
  std::string text;  // with the comments before it
  // What it declares or defines: enumerators too. Empty where that is not understood.
  std::set<std::string, std::less<>> names;
  std::set<std::string, std::less<>> uses;      // words that may name declarations
  std::set<std::string, std::less<>> accesses;  // words that name members of objects
  bool is_class = false;
  bool is_field = false;  // an object that no "static" stands before
  // Of a function: types that it takes by reference to what can be changed, so that a caller must
  // have an object of them.
  std::set<std::string, std::less<>> referenced;

  // Of a class, where they are understood: `text` is `begin`, their texts and `end`.
  std::vector<SourceItem> members;
  std::string begin;
  std::string end;
};

// Splits a source at the level of namespaces. Nothing if its brackets or conditionals do not match.
std::optional<std::vector<SourceItem>> split_source(std::string_view source);

// Calls `take` with each word of a text that is not in comments or literals, and with whether it
// names a member (".x" and "->x").
void for_each_word(std::string_view text, const std::function<void(std::string_view, bool)>& take);

// The words of a text that may name declarations: not in comments or literals, and no members (".x"
// and "->x").
std::set<std::string, std::less<>> words_of(std::string_view text);

// Those that do name members.
std::set<std::string, std::less<>> accesses_of(std::string_view text);

}  // namespace gemmtune::codegen
