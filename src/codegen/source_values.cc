#include "codegen/source_values.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/source_expression.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;
using Tokens = SourceTokens;

constexpr std::array<std::string_view, 8> kNumberTypes = {"int",   "bool",  "unsigned", "long",
                                                          "short", "float", "char",     "double"};

bool is_number_type(std::string_view word) {
  return std::find(kNumberTypes.begin(), kNumberTypes.end(), word) != kNumberTypes.end();
}

size_t opening_bracket(Tokens tokens, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (closes_bracket(tokens[i])) ++depth;
    if (opens_bracket(tokens[i]) && --depth == 0) return i;
  }
  return 0;
}

// Whether the sign at `at` sets what stands before it.
bool is_assignment(Tokens tokens, size_t at) {
  constexpr std::string_view kOthers = "=!<>+-*/%&|^";
  return at > 0 && tokens[at].is("=") && !is_pair(tokens, at, "==") &&
         kOthers.find(tokens[at - 1].text) == std::string_view::npos;
}

// Whether the parenthesis at `at` is of an expression: neither of a call nor of a condition.
bool is_grouping(Tokens tokens, size_t at) {
  return at > 0 && tokens[at].is("(") && !is_word(tokens[at - 1]) && !tokens[at - 1].is(">") &&
         !tokens[at - 1].is(")") && !tokens[at - 1].is("]");
}

// Whether what the sign at `at` sets is declared there, of a type that follows from its value.
bool declares_auto(Tokens tokens, size_t at) {
  while (at > 0 && !tokens[at - 1].is(";") && !tokens[at - 1].is("{") && !tokens[at - 1].is("}")) {
    if (tokens[--at].is("auto")) return true;
  }
  return false;
}

bool begins_with_number(Tokens tokens) {
  return tokens[0].kind == SourceToken::Kind::number || tokens[0].is("-");
}

class KnownValues {
 public:
  KnownValues(const SourceConstants& constants, EditedText& text)
      : constants_(constants), text_(text) {}

  void take(const Declaration& declaration) {
    take_calls(declaration);
    if (declaration.kind == Declared::constant) {
      take_field_of_object(declaration);
      take_choice_of_constant(declaration);
    }
    if (declaration.kind != Declared::function) return;
    for (size_t at = 0; at < declaration.value.size(); ++at) {
      if (declaration.value[at].is("?")) take_choice(declaration, declaration.value, at);
    }
  }

 private:
  void take_choice_of_constant(const Declaration& constant) {
    const Tokens all = constant.value;
    size_t mark = 0;
    while (mark < all.size() && !all[mark].is("?")) {
      if (opens_bracket(all[mark])) mark = closing_bracket(all, mark);
      ++mark;
    }
    if (mark >= all.size() || has_token(constant.head, "auto")) return;
    const auto sides = choice_sides(all.subspan(mark + 1));
    const auto value = constants_.value_of_all_uses(all.first(mark), constant.parent);
    if (sides && value && !value->fields)
      replace(all, value->number != 0 ? sides->first : sides->second);
  }

  // Puts numbers in the places of calls that are known, outside of the declaration's members.
  void take_calls(const Declaration& declaration) {
    const Tokens tokens = declaration.tokens;
    size_t member = 0;
    for (size_t at = 0; at + 1 < tokens.size(); ++at) {
      if (member < declaration.members.size() &&
          declaration.members[member]->tokens.data() == &tokens[at]) {
        at += declaration.members[member++]->tokens.size() - 1;
      } else if (tokens[at].is("typename")) {
        take_type(declaration, tokens.subspan(at));
      } else if (at > 0 && is_word(tokens[at]) && tokens[at + 1].is("(") &&
                 begins_expression(tokens, at)) {
        take_call(declaration, tokens.subspan(at, closing_bracket(tokens, at + 1) - at + 1));
      }
    }
  }

  // Whether the word at `at` is neither qualified nor declared there.
  static bool begins_expression(Tokens tokens, size_t at) {
    const SourceToken& before = tokens[at - 1];
    const bool arrow = at > 1 && is_pair(tokens, at - 2, "->");
    return !before.is(".") && !before.is(":") && !arrow &&
           (!is_word(before) || before.is("return"));
  }

  void take_call(const Declaration& declaration, Tokens call) {
    const auto arguments = split_at_commas(call.subspan(2, call.size() - 3));
    const Declaration* function = constants_.function(call[0].text, arguments.size());
    if (function == nullptr || function == &declaration) return;
    const SourceToken& type = function->head.back();
    if (!type.is("int") && !type.is("bool")) return;
    const bool is_all =
        declaration.value.data() == call.data() && declaration.value.size() == call.size();
    write_value(call, &declaration, type.is("bool"), is_all);
  }

  // Of an object that a constructor has made.
  void take_field_of_object(const Declaration& constant) {
    const Tokens expression = constant.value;
    if (expression.size() != 3 || !expression[1].is(".")) return;
    const auto objects = constants_.cases(expression.first(1), constant.parent);
    const Declaration* type = objects.empty() ? nullptr : objects.front().value.type;
    if (type == nullptr) return;
    const bool constructed =
        std::any_of(type->members.begin(), type->members.end(), [&](const auto& each) {
          return each->kind == Declared::function && each->name == type->name;
        });
    if (constructed) write_value(expression, constant.parent, false, true);
  }

  // The value of an expression, or which of two it is by a parameter of the class around it.
  void write_value(Tokens expression, const Declaration* scope, bool is_bool, bool is_all) {
    auto cases = constants_.cases(expression, scope);
    const auto written = [&](const SourceValue& value) {
      return is_bool ? (value.number != 0 ? std::string("true") : std::string("false"))
                     : std::to_string(value.number);
    };
    if (cases.empty() || cases.front().value.fields) return;
    if (is_bool) {
      std::stable_partition(cases.begin(), cases.end(),
                            [](const auto& each) { return each.value.number != 0; });
    }
    std::string text = written(cases.front().value);
    const auto other = std::find_if(cases.begin(), cases.end(), [&](const auto& each) {
      return !(each.value == cases.front().value);
    });
    if (other != cases.end()) {
      const std::string condition = condition_of(cases, scope);
      if (condition.empty()) return;
      if (is_bool) {
        text = condition;
      } else if (condition.starts_with('!')) {
        text = condition.substr(1) + " ? " + written(other->value) + " : " + text;
      } else {
        text = condition + " ? " + text + " : " + written(other->value);
      }
      if (!is_all && !(is_bool && condition.find(' ') == std::string::npos))
        text = "(" + text + ")";
    }
    text_.replace(text_.begin_of(expression.front()), text_.end_of(expression.back()),
                  std::move(text));
  }

  // What holds of a parameter in those cases that have the first one's value only. Empty if there
  // is no such parameter, or are more than two values.
  static std::string condition_of(const std::vector<SourceConstants::Case>& cases,
                                  const Declaration* scope) {
    while (scope->kind != Declared::type || scope->parameters.empty()) scope = scope->parent;
    std::string found;
    for (size_t i = 0; i < scope->parameters.size(); ++i) {
      const TemplateParameter& parameter = scope->parameters[i];
      if (!decides(cases, i) || parameter.name.empty()) continue;
      const bool is_bool = has_token(parameter.type, "bool");
      const int64_t first = cases.front().parameters[i]->number;
      if (is_bool) return (first != 0 ? "" : "!") + std::string(parameter.name);
      if (found.empty() && has_token(parameter.type, "int"))
        found = std::string(parameter.name) + " == " + std::to_string(first);
    }
    return found;
  }

  static bool decides(const std::vector<SourceConstants::Case>& cases, size_t parameter) {
    const SourceConstants::Case& first = cases.front();
    const SourceConstants::Case* second = nullptr;
    for (const auto& each : cases) {
      const auto& given = each.parameters[parameter];
      if (!given || given->fields) return false;
      if (*given == *first.parameters[parameter]) {
        if (!(each.value == first.value)) return false;
      } else if (second == nullptr) {
        second = &each;
      } else if (!(*given == *second->parameters[parameter]) || !(each.value == second->value)) {
        return false;
      }
    }
    return second != nullptr;
  }

  // The mark at `at` belongs to a value that is returned or set. What is chosen may be of another
  // type than "a ? b : c", which makes no difference where the type is said; a number may be of
  // another one than what stands beside it.
  void take_choice(const Declaration& function, Tokens body, size_t at) {
    size_t begin = at;
    while (begin > 0 && !body[begin - 1].is("return") && !is_assignment(body, begin - 1) &&
           !is_grouping(body, begin - 1)) {
      --begin;
      if (closes_bracket(body[begin])) begin = opening_bracket(body, begin);
      if (opens_bracket(body[begin]) || body[begin].is(";") || body[begin].is(",")) return;
    }
    if (begin == 0) return;
    const bool is_group = is_grouping(body, begin - 1);
    const size_t end = is_group ? closing_bracket(body, begin - 1) : statement_end(body, at) - 1;
    const auto sides = choice_sides(body.subspan(at + 1, end - at - 1));
    const bool is_deduced =
        is_group || body[begin - 1].is("return") || declares_auto(body, begin - 1);
    if (!sides ||
        (is_deduced && (begins_with_number(sides->first) || begins_with_number(sides->second))))
      return;
    const auto value = constants_.value_of_all_uses(body.subspan(begin, at - begin), &function);
    if (!value || value->fields) return;
    const Tokens chosen = value->number != 0 ? sides->first : sides->second;
    const bool with_brackets = is_group && chosen.size() == 1;
    replace(
        with_brackets ? body.subspan(begin - 1, end - begin + 2) : body.subspan(begin, end - begin),
        chosen);
  }

  // Of "a : b" behind the question mark.
  static std::optional<std::pair<Tokens, Tokens>> choice_sides(Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].is("?")) return std::nullopt;
      if (opens_bracket(tokens[i])) i = closing_bracket(tokens, i);
      if (is_pair(tokens, i, "::")) {
        ++i;
      } else if (tokens[i].is(":")) {
        const Tokens no = tokens.subspan(i + 1);
        if (has_token(no, "?") || i == 0 || no.empty()) return std::nullopt;
        return std::pair(tokens.first(i), no);
      }
    }
    return std::nullopt;
  }

  void replace(Tokens tokens, Tokens by) {
    const size_t begin = text_.begin_of(by.front());
    text_.replace(text_.begin_of(tokens.front()), text_.end_of(tokens.back()),
                  std::string(text_.text().substr(begin, text_.end_of(by.back()) - begin)));
  }

  // "typename Class<arguments>::Alias".
  void take_type(const Declaration& declaration, Tokens tokens) {
    const AngleRange angles = tokens.size() > 2 ? angles_at(tokens, 2) : AngleRange{};
    if (angles.end == 0 || !tokens[2].is("<") || !is_pair(tokens, angles.end, "::") ||
        angles.end + 3 >= tokens.size() || is_pair(tokens, angles.end + 3, "::") ||
        tokens[angles.end + 3].is("<"))
      return;
    const Tokens type = constants_.aliased_type(tokens[1].text, angles.inside,
                                                tokens[angles.end + 2].text, &declaration);
    std::string words;
    for (const SourceToken& token : type) {
      if (!is_number_type(token.text)) return;
      words.append(words.empty() ? "" : " ").append(token.text);
    }
    if (!words.empty())
      text_.replace(text_.begin_of(tokens[0]), text_.end_of(tokens[angles.end + 2]),
                    std::move(words));
  }

  const SourceConstants& constants_;
  EditedText& text_;
};

// Words that stand before others; of enumerators the bracket or comma.
using WordsBefore = std::map<std::string_view, std::set<std::string_view>>;

WordsBefore words_before(const std::vector<std::vector<SourceToken>>& sources) {
  WordsBefore before;
  for (const auto& tokens : sources) {
    for (size_t i = 1; i < tokens.size(); ++i) {
      const SourceToken& one = tokens[i - 1];
      const bool may_be_type = is_word(one) || one.is("&") || one.is("*") || one.is(">");
      if (is_word(tokens[i]) && may_be_type) before[tokens[i].text].insert(one.text);
    }
  }
  return before;
}

bool is_number(const SourceToken& token, const WordsBefore& before) {
  if (token.kind == SourceToken::Kind::number || token.is("true") || token.is("false")) return true;
  const auto words = before.find(token.text);
  if (!is_word(token) || words == before.end()) return false;
  return std::any_of(words->second.begin(), words->second.end(),
                     [](std::string_view word) { return is_number_type(word); }) &&
         std::all_of(words->second.begin(), words->second.end(), [](std::string_view word) {
           return is_number_type(word) || word == "return" || word == "else" || word == "case";
         });
}

}  // namespace

void write_known_values(const Declaration& declaration, const SourceConstants& constants,
                        EditedText& text) {
  KnownValues(constants, text).take(declaration);
}

bool may_compare_objects(const std::vector<std::vector<SourceToken>>& sources) {
  const WordsBefore before = words_before(sources);
  for (const Tokens tokens : sources) {
    for (size_t i = 1; i + 2 < tokens.size(); ++i) {
      if (!is_pair(tokens, i, "==") && !is_pair(tokens, i, "!=")) continue;
      if (tokens[i - 1].is("operator")) continue;
      const SourceToken& behind = tokens[i + 3 < tokens.size() ? i + 3 : i + 2];
      const bool plain = !behind.is(".") && !behind.is(":") && !behind.is("(") && !behind.is("{");
      if (!is_number(tokens[i - 1], before) && !(plain && is_number(tokens[i + 2], before)))
        return true;
    }
  }
  return false;
}

}  // namespace gemmtune::codegen
