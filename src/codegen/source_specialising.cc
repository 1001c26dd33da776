#include "codegen/source_specialising.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "codegen/source_calls.h"
#include "codegen/source_constants.h"
#include "codegen/source_edits.h"
#include "codegen/source_expression.h"
#include "codegen/source_items.h"
#include "codegen/source_parameters.h"
#include "codegen/source_values.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;
using Tokens = SourceTokens;

// Words that stand behind others without being declared.
constexpr std::array<std::string_view, 12> kTypeWords = {
    "int",  "const", "unsigned", "float",     "char",     "short",
    "long", "auto",  "if",       "constexpr", "volatile", "template"};

// Whether the sign at `at` may belong to a type, "Type* name", and is no operator between values.
bool may_be_of_type(Tokens tokens, size_t at) {
  if (!tokens[at].is("*") && !tokens[at].is("&")) return false;
  if (at < 2) return true;
  const SourceToken& type = tokens[at - 1];
  const SourceToken& before = tokens[at - 2];
  constexpr std::string_view kBefore = ";{}(,:";
  return !is_word(type) || is_one_of(type, kTypeWords) || is_word(before) ||
         kBefore.find(before.text) != std::string_view::npos;
}

// Words that may be names of variables which these tokens declare.
std::set<std::string_view> declared_in(Tokens tokens) {
  std::set<std::string_view> names;
  for (size_t i = 1; i < tokens.size(); ++i) {
    const SourceToken& before = tokens[i - 1];
    const bool type = before.is(">") || before.is("]") || may_be_of_type(tokens, i - 1) ||
                      (is_word(before) && !before.is("return"));
    if (!is_word(tokens[i]) || is_one_of(tokens[i], kTypeWords) || !type || i + 1 == tokens.size())
      continue;
    constexpr std::string_view kBehind = "=;{[(:";
    if (kBehind.find(tokens[i + 1].text) != std::string_view::npos) names.insert(tokens[i].text);
  }
  return names;
}

// Finds what is decided in one part.
class Specialiser {
 public:
  Specialiser(EditedText& text, const SourceConstants& constants, const SourceCalls& calls,
              const std::map<std::string_view, int>& words, bool compares_objects)
      : text_(text),
        constants_(constants),
        calls_(calls),
        words_(words),
        compares_objects_(compares_objects) {}

  void take(const Declaration& declaration) {
    const bool decided =
        is_assertion(declaration.tokens) && is_decided(declaration.tokens, declaration.parent);
    const bool compares = declaration.kind == Declared::other &&
                          has_token(declaration.tokens, "default") &&
                          is_comparison(declaration.tokens);
    if (decided || (compares && !compares_objects_) || !constants_.may_be_used(declaration) ||
        !calls_.may_be_called(declaration))
      return remove(declaration);
    if (declaration.kind == Declared::enumeration) take_enumerators(declaration);
    if (declaration.kind == Declared::function) {
      if (const Declaration* to = forwards_to(declaration)) return take_body(declaration, *to);
      take_statements(declaration, declaration.value);
    }
    write_known_values(declaration, constants_, text_);
    for (const auto& member : declaration.members) take(*member);
  }

 private:
  // With the comment above it, unless others follow that the comment is of, too.
  void remove(const Declaration& declaration) {
    const std::string_view all = text_.text();
    const size_t end = text_.end_of(declaration.tokens.back());
    size_t begin = text_.begin_of(declaration.tokens.front());
    size_t next = all.find('\n', end);
    next = next == std::string_view::npos ? all.size() : next + 1;
    const std::string_view rest =
        all.substr(next).substr(indent_at(all, std::min(next, all.size())));
    if (rest.empty() || rest.front() == '\n' || rest.front() == '}')
      begin = std::min(begin, text_.comment_begin(begin));
    text_.remove(begin, end);
  }

  // The function of the same class that this one calls with its own parameters and does nothing
  // else, if nobody else calls it.
  const Declaration* forwards_to(const Declaration& function) const {
    const Tokens body = function.value;
    const size_t name = !body.empty() && body[0].is("return") ? 1 : 0;
    if (function.parent == nullptr || body.size() < name + 4 || !body[name + 1].is("(") ||
        closing_bracket(body, name + 1) + 2 != body.size())
      return nullptr;
    const auto given = split_at_commas(body.subspan(name + 2, body.size() - name - 4));
    const auto found = std::find_if(
        function.parent->members.begin(), function.parent->members.end(), [&](const auto& each) {
          return each->kind == Declared::function && body[name].is(each->name);
        });
    const auto words = words_.find(body[name].text);
    if (found == function.parent->members.end() || found->get() == &function ||
        (*found)->value.empty() || words == words_.end() || words->second != 2)
      return nullptr;
    return have_same_parameters(function, **found, given) ? found->get() : nullptr;
  }

  static bool have_same_parameters(const Declaration& from, const Declaration& to,
                                   const std::vector<Tokens>& given) {
    const auto outer = split_at_commas(from.arguments);
    const auto inner = split_at_commas(to.arguments);
    if (outer.size() != given.size() || inner.size() != given.size()) return false;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!begins_with(outer[i], inner[i]) || given[i].size() != 1 ||
          !inner[i].back().is(given[i][0].text))
        return false;
    }
    return same_tokens(from.head, to.head) &&
           std::equal(from.parameters.begin(), from.parameters.end(), to.parameters.begin(),
                      to.parameters.end(), [](const auto& a, const auto& b) {
                        return a.name == b.name && a.is_type == b.is_type &&
                               same_tokens(a.type, b.type);
                      });
  }

  static bool same_tokens(Tokens a, Tokens b) { return a.size() == b.size() && begins_with(a, b); }

  // The same up to a default argument.
  static bool begins_with(Tokens all, Tokens first) {
    return all.size() >= first.size() &&
           std::equal(first.begin(), first.end(), all.begin(),
                      [](const auto& a, const auto& b) { return a.text == b.text; }) &&
           (all.size() == first.size() || all[first.size()].is("="));
  }

  // Puts what a function does in the place of its only call.
  void take_body(const Declaration& function, const Declaration& called) {
    const auto place = [&](const Declaration& of) {
      return std::pair(text_.begin_of(of.value.front()), text_.end_of(of.value.back()));
    };
    const auto [begin, end] = place(function);
    const auto [from, to] = place(called);
    text_.replace(begin, end, std::string(text_.text().substr(from, to - from)));
    remove(called);
  }

  // "operator==" of a class.
  static bool is_comparison(Tokens tokens) {
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (tokens[i].is("{")) return false;
      if (tokens[i].is("operator")) return is_pair(tokens, i + 1, "==");
    }
    return false;
  }

  static bool is_assertion(Tokens tokens) {
    return tokens.size() > 3 && tokens[0].is("static_assert") && tokens[1].is("(");
  }
  // Whether it is known what the assertion finds. One that does not hold is of a template that the
  // kernel names and nobody instantiates: rules refuse kernels that would not compile.
  bool is_decided(Tokens tokens, const Declaration* scope) const {
    const size_t close = closing_bracket(tokens, 1);
    const auto parts = split_at_commas(tokens.subspan(2, close - 2));
    return !parts.empty() && constants_.value_of_all_uses(parts.front(), scope).has_value();
  }

  // Whether a word stands where it is declared only.
  bool is_named(std::string_view word) const {
    const auto found = words_.find(word);
    return found == words_.end() || found->second > 1;
  }

  // Those that say their value, so that the others keep theirs.
  void take_enumerators(const Declaration& declaration) {
    const auto all = split_at_commas(declaration.value);
    const bool explicit_values = std::all_of(
        all.begin(), all.end(), [](Tokens each) { return each.size() > 2 && each[1].is("="); });
    const bool any_stays =
        std::any_of(all.begin(), all.end(), [&](Tokens each) { return is_named(each[0].text); });
    if (!explicit_values || !any_stays) return;
    for (const Tokens each : all) {
      if (!is_named(each[0].text)) text_.remove_item(each.front(), (&each.back())[1]);
    }
  }

  void take_statements(const Declaration& function, Tokens body) {
    for (size_t at = 0; at + 2 < body.size(); ++at) {
      if (is_assertion(body.subspan(at)) && is_decided(body.subspan(at), &function)) {
        const size_t end = statement_end(body, at);
        text_.remove(text_.begin_of(body[at]), text_.end_of(body[end - 1]));
      }
      if (body[at].is("if")) take_condition(function, body, at);
      if (body[at].is("return")) take_return(body, at);
      if (body[at].is("constexpr")) take_constant(body, at);
      if (body[at].is("const") &&
          calls_.has_no_effect(body.subspan(at, statement_end(body, at) - at)))
        take_constant(body, at);
      if (body[at].is("{")) take_block(function, body, at);
    }
  }

  // One that nothing is left of that reads it.
  void take_constant(Tokens body, size_t at) {
    const bool is_statement =
        at == 0 || body[at - 1].is(";") || body[at - 1].is("{") || body[at - 1].is("}");
    const size_t end = statement_end(body, at);
    size_t name = at;
    while (name < end && !body[name].is("=")) ++name;
    if (!is_statement || name == end) return;
    int count = 0;
    const size_t begin = text_.begin_of(body.front());
    for_each_word(text_.text().substr(begin, text_.end_of(body.back()) - begin),
                  [&](std::string_view word, bool) { count += body[name - 1].is(word) ? 1 : 0; });
    if (count != 1) return;
    const size_t first = text_.begin_of(body[at]);
    text_.remove(std::min(first, text_.comment_begin(first)), text_.end_of(body[end - 1]));
  }

  // One that is a statement by itself.
  void take_block(const Declaration& function, Tokens body, size_t at) {
    const bool is_statement =
        at == 0 || body[at - 1].is(";") || body[at - 1].is("{") || body[at - 1].is("}");
    const size_t end = closing_bracket(body, at) + 1;
    const Tokens block = body.subspan(at, end - at);
    if (is_statement && has_token(block, ";") && may_be_opened(function, body, {at, end}, block))
      text_.replace(text_.begin_of(block.front()), text_.end_of(block.back()),
                    opened(block, text_.begin_of(block.front())));
  }

  // What follows in its block is never reached.
  void take_return(Tokens body, size_t at) {
    const bool is_statement = at == 0 || body[at - 1].is(";") || body[at - 1].is("{");
    const size_t end = statement_end(body, at);
    size_t last = end;  // the end of the block
    while (is_statement && last < body.size() && !body[last].is("}")) {
      if (body[last].is("case") || body[last].is("default")) return;
      last = statement_end(body, last);
    }
    if (!is_statement || last == end) return;
    const size_t begin = text_.end_of(body[end - 1]);
    text_.replace(begin, text_.end_of(body[last - 1]), "");
  }

  void take_condition(const Declaration& function, Tokens body, size_t at) {
    const size_t open = body[at + 1].is("constexpr") ? at + 2 : at + 1;
    const size_t close = closing_bracket(body, open);
    const auto value =
        constants_.value_of_all_uses(body.subspan(open + 1, close - open - 1), &function);
    if (!value || value->fields) return;
    const size_t end_yes = statement_end(body, close + 1);
    const bool has_else = end_yes < body.size() && body[end_yes].is("else");
    const size_t end = has_else ? statement_end(body, end_yes + 1) : end_yes;
    Tokens chosen;
    if (value->number != 0) {
      chosen = body.subspan(close + 1, end_yes - close - 1);
    } else if (has_else) {
      chosen = body.subspan(end_yes + 1, end - end_yes - 1);
    }
    replace(function, body, {at, end}, chosen);
  }

  struct Range {
    size_t begin;
    size_t end;
  };

  // Puts a branch in the place of the statement that it belongs to.
  void replace(const Declaration& function, Tokens body, Range range, Tokens chosen) {
    const bool is_else = range.begin > 0 && body[range.begin - 1].is("else");
    const bool is_bound = is_else || (range.begin > 0 && body[range.begin - 1].is(")"));
    if (chosen.empty() && is_bound && !is_else) return;
    const SourceToken& first = body[chosen.empty() && is_else ? range.begin - 1 : range.begin];
    const size_t begin = text_.begin_of(first);
    const size_t end = text_.end_of(body[range.end - 1]);
    const bool block = !chosen.empty() && chosen[0].is("{");
    if (chosen.empty() || (block && chosen.size() == 2 && !is_bound)) {
      text_.remove(is_else ? begin : std::min(begin, text_.comment_begin(begin)), end);
      return;
    }
    if (block && !is_bound && may_be_opened(function, body, range, chosen)) {
      std::string inside = opened(chosen, begin);
      const bool is_line = inside.starts_with('#');  // of a directive, which begins its line
      return text_.replace(is_line ? text_.line_begin(begin) : begin, end, std::move(inside));
    }
    const size_t from = text_.begin_of(chosen.front());
    text_.replace(begin, end,
                  moved_left(text_.text().substr(from, text_.end_of(chosen.back()) - from),
                             block ? 0 : extra_indent(chosen.front(), begin)));
  }

  // Whether what a block declares may as well be declared around it.
  static bool may_be_opened(const Declaration& function, Tokens body, Range range, Tokens block) {
    std::set<std::string_view> outside = declared_in(body.first(range.begin));
    outside.merge(declared_in(body.subspan(range.end)));
    for (const Tokens parameter : split_at_commas(function.arguments)) {
      for (const SourceToken& token : parameter) outside.insert(token.text);
    }
    const auto inside = declared_in(block);
    return std::none_of(inside.begin(), inside.end(),
                        [&](std::string_view name) { return outside.contains(name); });
  }

  size_t extra_indent(const SourceToken& token, size_t begin) const {
    const std::string_view all = text_.text();
    const size_t inner = indent_at(all, text_.line_begin(text_.begin_of(token)));
    const size_t outer = indent_at(all, text_.line_begin(begin));
    return inner > outer ? inner - outer : 0;
  }

  // What is in a block, as far to the left as the text at `begin`.
  std::string opened(Tokens block, size_t begin) const {
    const std::string_view all = text_.text();
    const size_t open = text_.end_of(block.front());
    const std::string_view inside = all.substr(open, text_.begin_of(block.back()) - open);
    const size_t outer = indent_at(all, text_.line_begin(begin));
    const size_t inner = indent_at(all, text_.line_begin(text_.begin_of(block[1])));
    std::string text =
        moved_left(std::string("\n") + std::string(inside), inner > outer ? inner - outer : 0);
    // The first line begins where the statement did.
    text.erase(0, text.find_first_not_of(" \n"));
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
  }

  EditedText& text_;
  const SourceConstants& constants_;
  const SourceCalls& calls_;
  const std::map<std::string_view, int>& words_;
  bool compares_objects_;
};

// One pass; false where nothing was decided.
bool specialise(std::vector<SourcePart>& parts, std::string_view kernel, std::string_view notes) {
  std::vector<std::vector<SourceToken>> tokens;
  std::vector<SourceToken> elsewhere = counting(tokenize(notes));
  std::vector<std::unique_ptr<Declaration>> all;
  std::vector<size_t> first;  // of each part's declarations
  std::map<std::string_view, int> words;
  const auto add = [&](std::string_view text) {
    const std::vector<SourceToken> of_text = tokenize(text);
    for (const SourceToken& token : of_text) {
      if (token.kind != SourceToken::Kind::directive) continue;
      for (const SourceToken& word : counting(tokenize(token.text.substr(1))))
        elsewhere.push_back(word);
    }
    tokens.push_back(counting(of_text));
    for (const SourceToken& token : tokens.back()) {
      if (token.kind == SourceToken::Kind::word) ++words[token.text];
    }
    for (auto& each : declarations_of(tokens.back())) all.push_back(std::move(each));
  };
  tokens.reserve(parts.size() + 1);
  for (const SourcePart& part : parts) {
    first.push_back(all.size());
    add(part.text);
  }
  first.push_back(all.size());
  add(kernel);
  for (const SourceToken& token : elsewhere) ++words[token.text];
  const SourceConstants constants(all, elsewhere);
  const SourceCalls calls(all, elsewhere);
  const bool compares_objects = may_compare_objects(tokens);
  std::vector<std::string> changed(parts.size());
  bool any = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    EditedText text(parts[i].text);
    Specialiser one(text, constants, calls, words, compares_objects);
    for (size_t d = first[i]; d < first[i + 1]; ++d) one.take(*all[d]);
    any = any || text.changed();
    changed[i] = text.apply();
  }
  for (size_t i = 0; i < parts.size(); ++i) parts[i].text = std::move(changed[i]);
  return any;
}

}  // namespace

SpecialisedSource specialised(const std::vector<SourcePart>& parts, std::string_view kernel,
                              std::string_view notes) {
  SpecialisedSource out{parts, std::string(kernel)};
  const auto user = [&] { return out.kernel + "\n" + std::string(notes); };
  KnownParts known;
  bool changed = true;
  while (changed) {
    out.parts = keep_used(out.parts, user(), known);
    changed = specialise(out.parts, out.kernel, notes) ||
              drop_unused_parameters(out.parts, user()) ||
              drop_unread_fields(out.parts, out.kernel, notes);
  }
  return out;
}

}  // namespace gemmtune::codegen
