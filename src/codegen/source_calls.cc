#include "codegen/source_calls.h"

#include <algorithm>

#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;

// Commas that are in no brackets but angles.
size_t commas_in(SourceTokens tokens) {
  size_t commas = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (opens_bracket(tokens[i])) i = closing_bracket(tokens, i);
    if (tokens[i].is(",")) ++commas;
  }
  return commas;
}

}  // namespace

SourceCalls::SourceCalls(const std::vector<std::unique_ptr<Declaration>>& declarations,
                         SourceTokens elsewhere) {
  collect(declarations);
  for (const auto& declaration : declarations) take_calls(declaration->tokens);
  for (const SourceToken& token : elsewhere) others_.insert(token.text);
}

void SourceCalls::collect(const std::vector<std::unique_ptr<Declaration>>& declarations) {
  for (const auto& declaration : declarations) {
    if (declaration->kind == Declared::function) {
      ++functions_[declaration->name];
      all_[declaration->name].push_back(declaration.get());
    }
    if (declaration->kind == Declared::type) types_.insert(declaration->name);
    declared_.insert(declaration->name.data());
    collect(declaration->members);
  }
}

void SourceCalls::take_calls(SourceTokens tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view name = tokens[i].text;
    if (!functions_.contains(name) || declared_.contains(name.data())) continue;
    size_t open = i + 1;
    if (open < tokens.size() && tokens[open].is("<")) open = angles_at(tokens, open).end;
    if (open == 0 || open >= tokens.size() || !tokens[open].is("(")) {
      others_.insert(name);
      continue;
    }
    const SourceTokens inside = tokens.subspan(open + 1, closing_bracket(tokens, open) - open - 1);
    bool has_pack = false;
    for (size_t j = 0; j < inside.size(); ++j) has_pack = has_pack || is_pair(inside, j, "..");
    if (has_pack) others_.insert(name);
    // Angles may be comparisons.
    calls_[name].insert(split_at_commas(inside).size());
    calls_[name].insert(inside.empty() ? 0 : commas_in(inside) + 1);
  }
}

bool SourceCalls::may_be_called(const Declaration& function) const {
  if (function.kind != Declared::function || functions_.at(function.name) < 2 ||
      types_.contains(function.name) || others_.contains(function.name))
    return true;
  const auto calls = calls_.find(function.name);
  if (calls == calls_.end()) return true;
  const auto parameters = split_at_commas(function.arguments);
  size_t least = 0;
  for (const SourceTokens parameter : parameters) {
    if (has_token(parameter, ".")) return true;  // a pack
    if (!has_token(parameter, "=")) ++least;
  }
  return std::any_of(calls->second.begin(), calls->second.end(),
                     [&](size_t count) { return count >= least && count <= parameters.size(); });
}

bool SourceCalls::has_no_effect(SourceTokens statement) const {
  size_t at = 0;
  while (at < statement.size() && !statement[at].is("=")) {
    if (opens_bracket(statement[at])) return false;
    ++at;
  }
  for (++at; at + 1 < statement.size(); ++at) {
    const bool called = statement[at].is("(") && is_word(statement[at - 1]);
    if (called && !returns_at_once(statement[at - 1].text)) return false;
    if (statement[at].is("(") && statement[at - 1].is(">")) return false;
    if (called || statement[at].is("(")) continue;
    constexpr std::string_view kPlain = "+-*/%.,)<>&|?:";
    if (statement[at].kind == SourceToken::Kind::mark &&
        kPlain.find(statement[at].text) == std::string_view::npos)
      return false;
    if (is_pair(statement, at, "++") || is_pair(statement, at, "--")) return false;
  }
  return true;
}

// Whether all functions of that name, if there are any, are but "return number;".
bool SourceCalls::returns_at_once(std::string_view name) const {
  const auto found = all_.find(name);
  return found != all_.end() && !types_.contains(name) &&
         std::all_of(found->second.begin(), found->second.end(), [](const Declaration* function) {
           const SourceTokens body = function->value;
           return body.size() == 3 && body[0].is("return") &&
                  body[1].kind == SourceToken::Kind::number;
         });
}

}  // namespace gemmtune::codegen
