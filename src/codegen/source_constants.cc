#include "codegen/source_constants.h"

#include <algorithm>
#include <array>

#include "codegen/source_expression.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;
using Tokens = SourceTokens;
using Value = SourceConstants::Value;

bool is_in(const SourceToken& token, Tokens tokens) {
  return !tokens.empty() && &token >= tokens.data() && &token < tokens.data() + tokens.size();
}

bool is_only(Tokens tokens, std::string_view word) {
  return tokens.size() == 1 && tokens[0].is(word);
}

// The parameter of a function that a token of its parentheses is in.
Tokens parameter_at(const Declaration& function, const SourceToken& token) {
  for (const Tokens parameter : split_at_commas(function.arguments)) {
    if (is_in(token, parameter)) return parameter;
  }
  return {};
}

bool is_reference_to_change(Tokens parameter) {
  return std::count_if(parameter.begin(), parameter.end(),
                       [](const SourceToken& token) { return token.is("&"); }) == 1 &&
         !has_token(parameter, "const") && !has_token(parameter, "=");
}

}  // namespace

SourceConstants::SourceConstants(const Declarations& declarations, SourceTokens elsewhere) {
  collect(declarations);
  find_uses(declarations);
  for (const SourceToken& token : elsewhere) {
    bare_.insert(token.text);
    Use any;
    any.qualifier = Qualifier::type;
    uses_[token.text].push_back(any);
  }
}

void SourceConstants::collect(const Declarations& declarations) {
  for (const auto& each : declarations) {
    const Declaration& declaration = *each;
    if (!declaration.parameters.empty() && !declaration.name.empty())
      templates_.insert(declaration.name);
    if (declaration.parent != nullptr) members_.insert(declaration.name);
    if (declaration.kind == Declared::enumeration) collect_enumerators(declaration);
    if (declaration.kind == Declared::type) types_[declaration.name].push_back(&declaration);
    if (declaration.parent == nullptr) {
      if (declaration.kind == Declared::function)
        functions_[declaration.name].push_back(&declaration);
      if (declaration.kind == Declared::constant || declaration.kind == Declared::alias)
        globals_[declaration.name].push_back(&declaration);
    }
    collect(declaration.members);
  }
}

// Only of such as say each value, in namespaces.
void SourceConstants::collect_enumerators(const Declaration& declaration) {
  if (declaration.parent != nullptr) return;
  for (const Tokens enumerator : split_at_commas(declaration.value)) {
    if (enumerator.size() < 3 || !enumerator[1].is("=")) return;
    const Value number = evaluate(enumerator.subspan(2), nullptr, *this);
    if (number) enumerators_[enumerator[0].text] = number->number;
  }
}

void SourceConstants::find_uses(const Declarations& declarations) {
  for (const auto& declaration : declarations) {
    collect_uses(*declaration);
    find_uses(declaration->members);
  }
}

void SourceConstants::collect_uses(const Declaration& declaration) {
  const Tokens tokens = declaration.tokens;
  size_t member = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    while (member < declaration.members.size() && i < tokens.size()) {
      const Tokens inner = declaration.members[member]->tokens;
      if (tokens[i].text.data() < inner.front().text.data()) break;
      if (is_in(tokens[i], inner)) i += inner.size();
      ++member;
    }
    if (i < tokens.size() && is_word(tokens[i]) && templates_.contains(tokens[i].text))
      take_name(declaration, tokens, i);
  }
}

void SourceConstants::qualify(Tokens tokens, size_t at, Use& use) {
  if (at > 0 && tokens[at - 1].is("template")) --at;
  if (at < 2) return;
  if (is_pair(tokens, at - 2, "::")) {
    use.qualifier = Qualifier::type;
    const bool one_word =
        at > 2 && is_word(tokens[at - 3]) && (at < 5 || !is_pair(tokens, at - 5, "::"));
    if (one_word) use.type = tokens.subspan(at - 3, 1);
  } else if (tokens[at - 1].is(".") || is_pair(tokens, at - 2, "->")) {
    use.qualifier = Qualifier::object;
  }
}

// Whether a use may be of this function, by how names are looked up.
bool SourceConstants::may_mean(const Use& use, const Declaration& function) const {
  if (function.kind != Declared::function) return true;
  if (use.qualifier == Qualifier::object) return function.parent != nullptr;
  if (use.qualifier == Qualifier::type) {
    if (use.type.empty()) return true;
    const Declaration* in = type_of(use.type, use.scope, 0);
    return in == nullptr || in->is_derived || in == function.parent;
  }
  for (const Declaration* in = use.scope; in != nullptr; in = in->parent) {
    if (in->is_derived) return true;
    const bool found = std::any_of(in->members.begin(), in->members.end(),
                                   [&](const auto& each) { return each->name == function.name; });
    if (found) return in == function.parent;
  }
  return function.parent == nullptr;
}

void SourceConstants::take_name(const Declaration& declaration, Tokens tokens, size_t at) {
  const std::string_view name = tokens[at].text;
  if (name.data() == declaration.name.data()) return;  // what is declared
  Use use;
  use.scope = &declaration;
  qualify(tokens, at, use);
  if (at + 1 >= tokens.size() || !tokens[at + 1].is("<")) {
    bool own = false;  // a class may leave out its own arguments
    for (const Declaration* in = &declaration; in != nullptr; in = in->parent)
      own = own || (in->kind == Declared::type && in->name == name);
    if (!types_.contains(name)) {
      uses_[name].push_back(std::move(use));
    } else if (!own) {
      bare_.insert(name);
    }
    return;
  }
  const AngleRange angles = angles_at(tokens, at + 1);
  use.has_arguments = true;
  use.understood = angles.end != 0;
  use.arguments = split_at_commas(angles.inside);
  for (const Tokens argument : use.arguments)
    use.understood = use.understood && !has_token(argument, "...") && !has_token(argument, "..");
  use.in_parameters =
      declaration.kind == Declared::function && is_in(tokens[at], declaration.arguments);
  use.by_reference =
      use.in_parameters && is_reference_to_change(parameter_at(declaration, tokens[at]));
  uses_[name].push_back(std::move(use));
}

// Whether some call of the function template says what the parameter is.
bool SourceConstants::is_given(const Declaration& function, std::string_view parameter) const {
  const auto uses = uses_.find(function.name);
  if (uses == uses_.end()) return false;
  const size_t index = parameter_index(function, parameter);
  return std::any_of(uses->second.begin(), uses->second.end(), [&](const Use& use) {
    return (use.has_arguments && !use.understood) || use.arguments.size() > index;
  });
}

// False for parameters of functions whose types others have made objects of: references, and
// templates whose arguments are deduced.
bool SourceConstants::makes_objects(const Use& use) const {
  if (!use.in_parameters) return true;
  if (use.by_reference) return false;
  const Declaration& function = *use.scope;
  return std::none_of(use.arguments.begin(), use.arguments.end(), [&](Tokens argument) {
    return argument.size() == 1 && is_word(argument[0]) &&
           parameter_index(function, argument[0].text) < function.parameters.size() &&
           !is_given(function, argument[0].text);
  });
}

const Declaration* SourceConstants::primary(std::string_view name) const {
  const auto types = types_.find(name);
  if (types == types_.end()) return nullptr;
  const auto found = std::find_if(types->second.begin(), types->second.end(),
                                  [](const Declaration* type) { return !type->specialises; });
  return found == types->second.end() ? nullptr : *found;
}

// Argument `index` of a use, or the parameter's default.
Value SourceConstants::argument(const Use& use, const Declaration& primary, size_t index) const {
  if (!use.understood) return std::nullopt;
  if (index < use.arguments.size()) return value(use.arguments[index], use.scope);
  if (primary.kind != Declared::type || index >= primary.parameters.size()) return std::nullopt;
  return value(primary.parameters[index].fallback, &primary);
}

Value SourceConstants::parameter(const Declaration& declaration, size_t index) const {
  if (declaration.parameters[index].is_type) return std::nullopt;
  if (const auto use = assumed_.find(&declaration); use != assumed_.end())
    return converted(argument(*use->second, declaration, index),
                     declaration.parameters[index].type);
  const Parameter key{&declaration, index};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (!asked_.insert(key).second) return std::nullopt;  // depends on itself
  const Value value = agreed(declaration, index);
  asked_.erase(key);
  known_[key] = value;
  return value;
}

Value SourceConstants::agreed(const Declaration& declaration, size_t index) const {
  const std::string_view name = declaration.parameters[index].name;
  const Tokens type = declaration.parameters[index].type;
  const auto uses = uses_.find(declaration.name);
  if (name.empty() || uses == uses_.end()) return std::nullopt;
  if (declaration.kind == Declared::type && bare_.contains(declaration.name)) return std::nullopt;
  const Declaration* first =
      declaration.kind == Declared::type ? primary(declaration.name) : nullptr;
  if (first == nullptr) first = &declaration;
  if (declaration.specialises) {
    const auto& pattern = declaration.pattern;
    const auto place = std::find_if(pattern.begin(), pattern.end(),
                                    [&](Tokens each) { return is_only(each, name); });
    if (place == pattern.end()) return std::nullopt;
    index = static_cast<size_t>(place - pattern.begin());
  }
  Value agreed;
  for (const Use& use : uses->second) {
    const bool handed_on = use.understood && index < use.arguments.size() &&
                           is_only(use.arguments[index], name) && is_inside(use.scope, declaration);
    if (handed_on || !may_mean(use, declaration) || !makes_objects(use)) continue;
    const Value value = converted(argument(use, *first, index), type);
    if (!value || (agreed && !(*agreed == *value))) return std::nullopt;
    agreed = value;
  }
  return agreed;
}

Value SourceConstants::value(Tokens expression, const Declaration* scope) const {
  return evaluate(expression, scope, *this);
}

// Whether the word at `at` is declared there: another word stands before it.
bool SourceConstants::declares(Tokens body, size_t at) {
  constexpr std::array<std::string_view, 10> kBeforeValues = {
      "return", "case", "else", "typename", "template", "sizeof", "goto", "do", "new", "throw"};
  return at > 0 && is_word(body[at - 1]) && !is_one_of(body[at - 1], kBeforeValues);
}

// What a name is in a function's body, if it is declared there; known only where that is done once.
std::optional<Value> SourceConstants::local(const Declaration& function,
                                            std::string_view name) const {
  const Tokens body = function.value;
  Value found;
  bool any = false;
  for (size_t i = 1; i + 1 < body.size(); ++i) {
    if (!body[i].is(name) || !declares(body, i)) continue;
    size_t first = i;
    while (first > 0 && !body[first - 1].is(";") && !body[first - 1].is("{") &&
           !body[first - 1].is("}"))
      --first;
    const Tokens head = body.subspan(first, i - first);
    if (any || !has_token(head, "constexpr") || !body[i + 1].is("=")) return Value{};
    any = true;
    const Tokens rest = body.subspan(i + 2);
    const auto end = std::find_if(rest.begin(), rest.end(),
                                  [](const SourceToken& token) { return token.is(";"); });
    found = converted(value(rest.first(static_cast<size_t>(end - rest.begin())), &function), head);
  }
  return any ? std::optional<Value>(found) : std::nullopt;
}

Value SourceConstants::constant(const Declaration& declaration) const {
  if (depth_ > kMostCalls) return std::nullopt;
  const Tokens value_tokens = declaration.value;
  const Declaration* scope = declaration.parent;
  if (value_tokens.empty() || declaration.head.empty()) return std::nullopt;
  if (!value_tokens[0].is("{")) {
    ++depth_;
    const Value found = value(value_tokens, scope);
    --depth_;
    return converted(found, declaration.head);
  }
  return object(declaration.head.back().text, value_tokens, scope);
}

Value SourceConstants::named(std::string_view name, const Declaration* scope) const {
  for (const Declaration* in = scope; in != nullptr; in = in->parent) {
    if (in->kind == Declared::function) {
      for (const Tokens parameter : split_at_commas(in->arguments)) {
        if (!parameter.empty() && parameter.back().is(name)) return std::nullopt;
      }
      if (const auto found = local(*in, name)) return *found;
    }
    const size_t index = parameter_index(*in, name);
    if (index < in->parameters.size()) return parameter(*in, index);
    for (const auto& each : in->members) {
      if (each->name == name)
        return each->kind == Declared::constant ? constant(*each) : std::nullopt;
    }
    if (in->is_derived && members_.contains(name)) return std::nullopt;
  }
  if (const auto found = globals_.find(name); found != globals_.end()) {
    const bool only = found->second.size() == 1 &&
                      found->second.front()->kind == Declared::constant &&
                      found->second.front()->parameters.empty();
    return only ? constant(*found->second.front()) : std::nullopt;
  }
  const auto enumerator = enumerators_.find(name);
  if (enumerator == enumerators_.end()) return std::nullopt;
  return SourceValue{enumerator->second, nullptr};
}

const Declaration* SourceConstants::only_type(std::string_view name) const {
  const auto found = types_.find(name);
  return found != types_.end() && found->second.size() == 1 ? found->second.front() : nullptr;
}

const Declaration* SourceConstants::alias(std::string_view name, const Declaration* scope) const {
  for (const Declaration* in = scope; in != nullptr; in = in->parent) {
    if (in->kind == Declared::function && has_token(in->value, "using")) return nullptr;
    for (const auto& each : in->members) {
      if (each->name == name) return each.get();
    }
    if (parameter_index(*in, name) < in->parameters.size())
      return in;  // no alias, but what is meant
    if (in->is_derived && members_.contains(name)) return in;
  }
  const auto found = globals_.find(name);
  return found != globals_.end() && found->second.size() == 1 ? found->second.front() : nullptr;
}

Value SourceConstants::member(Tokens type, std::string_view name, const Declaration* scope) const {
  Instances instances(*this);
  const Declaration* in = type_of(type, scope, 0, &instances);
  if (in == nullptr) return std::nullopt;
  for (const auto& each : in->members) {
    if (each->name == name)
      return each->kind == Declared::constant ? constant(*each) : std::nullopt;
  }
  return std::nullopt;
}

// Whether a use may have such arguments.
bool SourceConstants::fits(const Use& use, const Declaration& primary,
                           const std::vector<Tokens>& pattern, const Declaration& of) const {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].size() == 1 && parameter_index(of, pattern[i][0].text) < of.parameters.size())
      continue;
    const Value wanted = value(pattern[i], &of);
    const Value given = argument(use, primary, i);
    if (wanted && given && !(*wanted == *given)) return false;
  }
  return true;
}

// Whether there may be objects of a template's class whose arguments are like `pattern`.
bool SourceConstants::is_made(std::string_view name, const std::vector<Tokens>& pattern,
                              const Declaration& of) const {
  const auto uses = uses_.find(name);
  const Declaration* first = primary(name);
  if (first == nullptr || bare_.contains(name) || uses == uses_.end()) return true;
  return std::any_of(uses->second.begin(), uses->second.end(), [&](const Use& use) {
    return makes_objects(use) && fits(use, *first, pattern, of);
  });
}

bool SourceConstants::may_be_used(const Declaration& declaration) const {
  if (declaration.kind == Declared::type && declaration.specialises)
    return is_made(declaration.name, declaration.pattern, declaration);
  if (declaration.kind != Declared::function) return true;
  for (const Tokens parameter : split_at_commas(declaration.arguments)) {
    if (!is_reference_to_change(parameter) || parameter.size() < 4 || !is_word(parameter[0]) ||
        !parameter[1].is("<"))
      continue;
    const AngleRange angles = angles_at(parameter, 1);
    const bool plain =
        angles.end != 0 && angles.end < parameter.size() && parameter[angles.end].is("&");
    if (plain && !is_made(parameter[0].text, split_at_commas(angles.inside), declaration))
      return false;
  }
  return true;
}

}  // namespace gemmtune::codegen
