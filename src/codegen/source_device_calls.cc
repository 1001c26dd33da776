#include "codegen/source_device_calls.h"

#include <algorithm>
#include <vector>

#include "codegen/source_declarations.h"
#include "codegen/source_edits.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

// "Sums{1}" of "static constexpr Sums kSums{1};"; empty for other declarations.
std::string object_of(const Declaration& constant, const EditedText& text) {
  if (constant.kind != Declaration::Kind::constant || constant.value.empty() ||
      !constant.value.front().is("{"))
    return {};
  const auto slice = [&](const SourceToken& first, const SourceToken& last) {
    const size_t begin = text.begin_of(first);
    return std::string(text.text().substr(begin, text.end_of(last) - begin));
  };
  const auto type =
      std::find_if(constant.head.begin(), constant.head.end(), [](const SourceToken& token) {
        return !token.is("static") && !token.is("constexpr") && !token.is("inline");
      });
  if (type == constant.head.end()) return {};
  return slice(*type, constant.head.back()) + slice(constant.value.front(), constant.value.back());
}

void take_calls_of(std::string_view name, const std::string& object, SourceTokens body,
                   EditedText& text) {
  for (size_t i = 0; i + 3 < body.size(); ++i) {
    const bool own = i == 0 || (!body[i - 1].is(".") && !body[i - 1].is(":"));
    const bool calls = body[i + 1].is(".") && is_word(body[i + 2]) && body[i + 3].is("(");
    if (body[i].is(name) && own && calls)
      text.replace(text.begin_of(body[i]), text.end_of(body[i]), object);
  }
}

void take_class(const Declaration& of, EditedText& text) {
  for (const auto& constant : of.members) {
    const std::string object = object_of(*constant, text);
    if (object.empty()) continue;
    for (const auto& member : of.members) {
      if (member->kind == Declaration::Kind::function)
        take_calls_of(constant->name, object, member->value, text);
    }
  }
  for (const auto& member : of.members) take_class(*member, text);
}

}  // namespace

std::string with_device_calls(std::string_view source) {
  const std::vector<SourceToken> tokens = counting(tokenize(source));
  EditedText text(source);
  for (const auto& declaration : declarations_of(tokens)) take_class(*declaration, text);
  return text.apply();
}

bool may_end_early(std::string_view source) {
  const std::vector<SourceToken> tokens = counting(tokenize(source));
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("if") || !tokens[i + 1].is("constexpr")) continue;
    size_t behind = closing_bracket(tokens, i + 2) + 1;
    if (behind < tokens.size() && tokens[behind].is("{")) ++behind;
    if (behind < tokens.size() && tokens[behind].is("return")) return true;
  }
  return false;
}

}  // namespace gemmtune::codegen
