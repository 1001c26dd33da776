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

constexpr int kMostCalls = 16;    // of functions, one in the other
constexpr int kMostAliases = 16;  // of types, one of the other

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

size_t parameter_index(const Declaration& declaration, std::string_view parameter) {
  const auto& all = declaration.parameters;
  const auto found = std::find_if(all.begin(), all.end(), [&](const TemplateParameter& each) {
    return each.name == parameter;
  });
  return static_cast<size_t>(found - all.begin());
}

// A value as an object of the type that `type` has among its words.
Value converted(Value value, Tokens type) {
  if (has_token(type, "float") || has_token(type, "double")) return std::nullopt;
  if (value && has_token(type, "bool")) value->number = value->number != 0 ? 1 : 0;
  return value;
}

bool is_inside(const Declaration* scope, const Declaration& outer) {
  while (scope != nullptr && scope != &outer) scope = scope->parent;
  return scope != nullptr;
}

}  // namespace

bool SourceValue::operator==(const SourceValue& other) const {
  if (!fields || !other.fields) return !fields && !other.fields && number == other.number;
  return *fields == *other.fields;
}

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

Value SourceConstants::object(std::string_view type, Tokens braces,
                              const Declaration* scope) const {
  const Declaration* known = only_type(type);
  if (known == nullptr || !known->parameters.empty()) return std::nullopt;
  SourceValue::Fields fields;
  const auto set = [&](const Declaration& field, Tokens to, const Declaration* in) {
    if (to.empty() || field.head.empty()) return;
    const Value value =
        to[0].is("{") ? object(field.head.back().text, to, in) : this->value(to, in);
    fields.erase(field.name);
    if (value) fields.emplace(field.name, *value);
  };
  for (const auto& member : known->members) {
    if (member->kind == Declared::field) set(*member, member->value, known);
  }
  for (const Tokens given : split_at_commas(braces.subspan(1, braces.size() - 2))) {
    if (given.size() < 4 || !given[0].is(".") || !given[2].is("=")) return std::nullopt;
    const auto field = std::find_if(known->members.begin(), known->members.end(),
                                    [&](const auto& each) { return given[1].is(each->name); });
    if (field == known->members.end()) return std::nullopt;
    set(**field, given.subspan(3), scope);
  }
  return SourceValue{0, std::make_shared<const SourceValue::Fields>(std::move(fields))};
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

// The class that is meant, if there is but one declaration that can be.
const Declaration* SourceConstants::type_of(Tokens type, const Declaration* scope,
                                            int depth) const {
  if (depth > kMostAliases) return nullptr;
  if (!type.empty() && type[0].is("typename")) type = type.subspan(1);
  if (type.empty() || !is_word(type[0])) return nullptr;
  const Declaration* found = alias(type[0].text, scope);
  if (found != nullptr && found->kind != Declared::type) {
    if (found->kind != Declared::alias) return nullptr;
    found = type_of(found->value, found->parent, depth + 1);
  } else {
    found = only_type(type[0].text);
  }
  size_t at = 1;
  if (at < type.size() && type[at].is("<")) at = angles_at(type, at).end;
  if (found == nullptr || at == type.size()) return found;
  if (at == 0 || !is_pair(type, at, "::")) return nullptr;
  return type_of(type.subspan(at + 2), found, depth + 1);
}

Value SourceConstants::member(Tokens type, std::string_view name, const Declaration* scope) const {
  const Declaration* in = type_of(type, scope, 0);
  if (in == nullptr) return std::nullopt;
  for (const auto& each : in->members) {
    if (each->name == name)
      return each->kind == Declared::constant ? constant(*each) : std::nullopt;
  }
  return std::nullopt;
}

Value SourceConstants::called(std::string_view name, const std::vector<Value>& arguments) const {
  const auto found = functions_.find(name);
  if (found == functions_.end() || depth_ > kMostCalls) return std::nullopt;
  const Declaration* function = nullptr;
  for (const Declaration* each : found->second) {
    if (split_at_commas(each->arguments).size() != arguments.size()) continue;
    if (function != nullptr) return std::nullopt;
    function = each;
  }
  if (function == nullptr || !function->parameters.empty() ||
      !has_token(function->head, "constexpr"))
    return std::nullopt;
  SourceFrame frame;
  size_t index = 0;
  for (const Tokens parameter : split_at_commas(function->arguments))
    frame.emplace(parameter.back().text, converted(arguments[index++], parameter));
  ++depth_;
  const Value result = evaluate_call(*function, frame, *this);
  --depth_;
  return converted(result, function->head);
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
