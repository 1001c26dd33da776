#include "codegen/source_declarations.h"

#include <algorithm>

#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Tokens = SourceTokens;
using Declared = Declaration::Kind;
using Declarations = std::vector<std::unique_ptr<Declaration>>;

TemplateParameter template_parameter(Tokens tokens) {
  TemplateParameter parameter;
  size_t end = 0;
  while (end < tokens.size() && !tokens[end].is("=")) {
    if (tokens[end].is("<")) end = std::max(angles_at(tokens, end).end, end + 1) - 1;
    ++end;
  }
  if (end < tokens.size()) parameter.fallback = tokens.subspan(end + 1);
  if (end < 2 || !is_word(tokens[end - 1])) return parameter;
  parameter.is_type = tokens[0].is("class") || tokens[0].is("typename") || tokens[0].is("template");
  if (!parameter.is_type) parameter.type = tokens.first(end - 1);
  const bool pack = tokens[end - 2].is(".");
  if (!pack) parameter.name = tokens[end - 1].text;
  return parameter;
}

// Takes the template's parameters off the front.
Tokens take_parameters(Tokens tokens, Declaration& to) {
  while (tokens.size() > 1 && tokens[0].is("template") && tokens[1].is("<")) {
    const AngleRange angles = angles_at(tokens, 1);
    if (angles.end == 0) return {};
    to.specialises = angles.inside.empty();
    for (const Tokens each : split_at_commas(angles.inside))
      to.parameters.push_back(template_parameter(each));
    tokens = tokens.subspan(angles.end);
  }
  return tokens;
}

// Reads the declarations of a namespace or class.
class Reader {
 public:
  Reader(Tokens tokens, const Declaration* parent, Declarations& out)
      : tokens_(tokens), parent_(parent), out_(out) {}

  void run() {
    while (at_ < tokens_.size()) take();
  }

 private:
  void take() {
    const SourceToken& token = tokens_[at_];
    const bool label =
        is_one_of(token, kAccessWords) && at_ + 1 < tokens_.size() && tokens_[at_ + 1].is(":");
    if (label) {
      at_ += 2;
    } else if (token.is(";") || token.is("}")) {
      ++at_;  // the end of a namespace
    } else if (token.is("namespace")) {
      while (at_ < tokens_.size() && !tokens_[at_].is("{") && !tokens_[at_].is(";")) ++at_;
      ++at_;
    } else {
      take_declaration();
    }
  }

  void take_declaration() {
    auto declaration = std::make_unique<Declaration>();
    declaration->parent = parent_;
    const size_t first = at_;
    Tokens head = take_parameters(tokens_.subspan(first), *declaration);
    const bool is_class = !head.empty() && is_one_of(head[0], kClassKeys);
    for (; at_ < tokens_.size(); ++at_) {
      if (tokens_[at_].is(";")) break;
      if (!opens_bracket(tokens_[at_])) continue;
      const bool braces = tokens_[at_].is("{");
      at_ = closing_bracket(tokens_, at_);
      if (braces && !is_class && ends_at(at_)) break;
    }
    at_ = std::min(at_ + 1, tokens_.size());
    declaration->tokens = tokens_.subspan(first, at_ - first);
    const auto skipped = static_cast<size_t>(head.data() - declaration->tokens.data());
    if (!head.empty() && skipped <= declaration->tokens.size())
      describe(declaration->tokens.subspan(skipped), *declaration);
    out_.push_back(std::move(declaration));
  }

  // Whether a declaration ends with the brace at `at`, as a function's body does.
  bool ends_at(size_t at) const {
    return at + 1 >= tokens_.size() || !is_one_of(tokens_[at + 1], kGoOn);
  }

  static void describe(Tokens tokens, Declaration& to) {
    if (is_one_of(tokens[0], kClassKeys)) return describe_type(tokens, to);
    if (tokens[0].is("using")) {
      if (tokens.size() < 4 || !tokens[2].is("=")) return;
      to.kind = Declared::alias;
      to.name = tokens[1].text;
      to.value = tokens.subspan(3, tokens.size() - 4);
      return;
    }
    if (!is_one_of(tokens[0], kNameless) && !has_token(tokens, "operator"))
      describe_object(tokens, to);
  }

  static void describe_type(Tokens tokens, Declaration& to) {
    to.kind = tokens[0].is("enum") ? Declared::enumeration : Declared::type;
    size_t at = 1;
    while (at + 1 < tokens.size() && tokens[at + 1].is("("))
      at = closing_bracket(tokens, at + 1) + 1;
    if (at + 1 >= tokens.size() || !is_word(tokens[at])) return;
    to.name = tokens[at].text;
    to.head = tokens.first(at);
    if (tokens[at + 1].is("<")) {
      const AngleRange angles = angles_at(tokens, at + 1);
      to.specialises = true;
      to.pattern = split_at_commas(angles.inside);
      at = std::max(angles.end, at + 1) - 1;
    }
    size_t open = at + 1;
    while (open < tokens.size() && !tokens[open].is("{")) ++open;
    to.is_derived =
        has_token(tokens.subspan(at + 1, open - at - 1), ":") && to.kind == Declared::type;
    if (open == tokens.size()) return;
    to.value = tokens.subspan(open + 1, closing_bracket(tokens, open) - open - 1);
    if (to.kind == Declared::type) Reader(to.value, &to, to.members).run();
  }

  static void describe_object(Tokens tokens, Declaration& to) {
    size_t at = 0;
    for (; at + 1 < tokens.size(); ++at) {
      const SourceToken& next = tokens[at + 1];
      if (is_word(tokens[at]) && !is_one_of(tokens[at], kSpecifiers) &&
          (next.is("(") || next.is("=") || next.is("{") || next.is("[") || next.is(";")))
        break;
      if (tokens[at].is("<")) at = std::max(angles_at(tokens, at).end, at + 1) - 1;
      if (opens_bracket(tokens[at])) at = closing_bracket(tokens, at);
    }
    if (at + 1 >= tokens.size()) return;
    to.name = tokens[at].text;
    to.head = tokens.first(at);
    const Tokens rest = tokens.subspan(at + 1);
    if (rest[0].is("(")) return describe_function(rest, to);
    to.kind = has_token(to.head, "constexpr") ? Declared::constant : Declared::field;
    if (has_token(to.head, "static") && to.kind == Declared::field) to.kind = Declared::other;
    if (rest[0].is("=")) to.value = rest.subspan(1, rest.size() - 2);
    if (rest[0].is("{")) to.value = rest.first(rest.size() - 1);
  }

  static void describe_function(Tokens rest, Declaration& to) {
    to.kind = Declared::function;
    const size_t close = closing_bracket(rest, 0);
    to.arguments = rest.subspan(1, close - 1);
    if (!rest.back().is("}")) return;
    // A constructor may initialize members by braces before its body.
    size_t open = close;
    for (size_t i = close + 1; i < rest.size(); ++i) {
      if (!opens_bracket(rest[i])) continue;
      open = i;
      i = closing_bracket(rest, i);
    }
    to.value = rest.subspan(open + 1, rest.size() - open - 2);
  }

  Tokens tokens_;
  const Declaration* parent_;
  Declarations& out_;
  size_t at_ = 0;
};

}  // namespace

bool is_inside(const Declaration* scope, const Declaration& outer) {
  while (scope != nullptr && scope != &outer) scope = scope->parent;
  return scope != nullptr;
}

size_t parameter_index(const Declaration& declaration, std::string_view parameter) {
  const auto& all = declaration.parameters;
  const auto found = std::find_if(all.begin(), all.end(), [&](const TemplateParameter& each) {
    return each.name == parameter;
  });
  return static_cast<size_t>(found - all.begin());
}

bool has_token(SourceTokens tokens, std::string_view text) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const SourceToken& token) { return token.is(text); });
}

std::vector<std::unique_ptr<Declaration>> declarations_of(SourceTokens tokens) {
  Declarations out;
  Reader(tokens, nullptr, out).run();
  return out;
}

size_t closing_bracket(SourceTokens tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.kind != SourceToken::Kind::mark) continue;
    if (opens_bracket(token)) ++depth;
    if ((token.is(")") || token.is("]") || token.is("}")) && --depth == 0) return i;
  }
  return tokens.empty() ? 0 : tokens.size() - 1;
}

bool is_pair(SourceTokens tokens, size_t at, std::string_view mark) {
  return at + 1 < tokens.size() && tokens[at].is(mark.substr(0, 1)) &&
         tokens[at + 1].is(mark.substr(1)) &&
         tokens[at].text.data() + 1 == tokens[at + 1].text.data();
}

std::vector<SourceTokens> split_at_commas(SourceTokens tokens) {
  std::vector<SourceTokens> parts;
  size_t begin = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (opens_bracket(tokens[i])) i = closing_bracket(tokens, i);
    if (tokens[i].is("<")) i = std::max(angles_at(tokens, i).end, i + 1) - 1;
    if (!tokens[i].is(",")) continue;
    parts.push_back(tokens.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (begin < tokens.size()) parts.push_back(tokens.subspan(begin));
  return parts;
}

AngleRange angles_at(SourceTokens tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.kind != SourceToken::Kind::mark) continue;
    if (opens_bracket(token)) {
      i = closing_bracket(tokens, i);
    } else if (token.is(")") || token.is("]") || token.is("}") || token.is(";")) {
      return {};
    } else if (is_pair(tokens, i, ">=") || is_pair(tokens, i, "->") || is_pair(tokens, i, "<=") ||
               is_pair(tokens, i, "<<")) {
      ++i;
    } else if (token.is("<")) {
      ++depth;
    } else if (token.is(">") && --depth == 0) {
      return {tokens.subspan(open + 1, i - open - 1), i + 1};
    }
  }
  return {};
}

}  // namespace gemmtune::codegen
