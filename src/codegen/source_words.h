#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "codegen/source_tokens.h"

// What the readers of CUDA C++ sources know of its words.

namespace gemmtune::codegen {

inline constexpr std::array<std::string_view, 4> kClassKeys = {"struct", "class", "union", "enum"};
inline constexpr std::array<std::string_view, 3> kAccessWords = {"public", "private", "protected"};
// Followed by parentheses that are no parameters.
inline constexpr std::array<std::string_view, 6> kSpecifiers = {
    "__launch_bounds__", "__align__", "__attribute__", "alignas", "decltype", "noexcept"};
// Of what declares nothing that a word could name.
inline constexpr std::array<std::string_view, 5> kNameless = {"static_assert", "typedef",
                                                              "operator", "asm", "friend"};
// Behind the bracket that ends a body nothing of these stands.
inline constexpr std::array<std::string_view, 8> kGoOn = {";", ">", ",", "{", "(", ")", ".", "="};

template <size_t kSize>
bool is_one_of(const SourceToken& token, const std::array<std::string_view, kSize>& texts) {
  return std::find(texts.begin(), texts.end(), token.text) != texts.end();
}

inline bool is_word(const SourceToken& token) {
  return token.kind == SourceToken::Kind::word;
}

inline bool opens_bracket(const SourceToken& token) {
  return token.kind == SourceToken::Kind::mark && (token.is("(") || token.is("[") || token.is("{"));
}

inline bool closes_bracket(const SourceToken& token) {
  return token.kind == SourceToken::Kind::mark && (token.is(")") || token.is("]") || token.is("}"));
}

}  // namespace gemmtune::codegen
