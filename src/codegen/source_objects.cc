// Objects of constants, and what functions make of constants.
#include <algorithm>

#include "codegen/source_constants.h"
#include "codegen/source_expression.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;
using Tokens = SourceTokens;
using Value = SourceConstants::Value;

// Nothing where several of the functions take as many arguments.
template <class Functions>
const Declaration* only_function(const Functions& functions, size_t arguments) {
  const Declaration* found = nullptr;
  for (const auto& each : functions) {
    if (split_at_commas(each->arguments).size() != arguments) continue;
    if (found != nullptr) return nullptr;
    found = &*each;
  }
  return found;
}

// Functions among the members of a class.
std::vector<const Declaration*> methods(const Declaration& type, std::string_view name) {
  std::vector<const Declaration*> found;
  for (const auto& member : type.members) {
    if (member->kind == Declared::function && member->name == name) found.push_back(member.get());
  }
  return found;
}

// Adds a function's parameters.
void add_parameters(const Declaration& function, const std::vector<Value>& arguments,
                    SourceFrame& frame) {
  size_t index = 0;
  for (const Tokens parameter : split_at_commas(function.arguments))
    frame[parameter.back().text] = SourceConstants::converted(arguments[index++], parameter);
}

// What stands between a constructor's parameters and its body.
Tokens initializers(const Declaration& constructor) {
  const Tokens all = constructor.tokens;
  const auto begin = static_cast<size_t>(constructor.arguments.data() - all.data()) +
                     constructor.arguments.size() + 1;
  const bool understood = begin < all.size() && all[begin].is(":") && all.size() > begin + 3 &&
                          all[all.size() - 2].is("{");
  return understood ? all.subspan(begin + 1, all.size() - begin - 3) : Tokens{};
}

}  // namespace

bool SourceValue::operator==(const SourceValue& other) const {
  if (!fields || !other.fields) return !fields && !other.fields && number == other.number;
  return *fields == *other.fields;
}

Value SourceConstants::converted(Value value, Tokens type) {
  if (has_token(type, "float") || has_token(type, "double")) return std::nullopt;
  if (value && has_token(type, "bool")) value->number = value->number != 0 ? 1 : 0;
  return value;
}

Value SourceConstants::object(std::string_view type, Tokens braces,
                              const Declaration* scope) const {
  const Declaration* known = only_type(type);
  if (known == nullptr || !known->parameters.empty()) return std::nullopt;
  const auto all_given = split_at_commas(braces.subspan(1, braces.size() - 2));
  if (!all_given.empty() && !all_given.front()[0].is("."))
    return constructed(*known, all_given, scope);
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
  for (const Tokens given : all_given) {
    if (given.size() < 4 || !given[0].is(".") || !given[2].is("=")) return std::nullopt;
    const auto field = std::find_if(known->members.begin(), known->members.end(),
                                    [&](const auto& each) { return given[1].is(each->name); });
    if (field == known->members.end()) return std::nullopt;
    set(**field, given.subspan(3), scope);
  }
  return SourceValue{0, std::make_shared<const SourceValue::Fields>(std::move(fields)), known};
}

// By the only constructor that takes so many arguments and has nothing in its body.
Value SourceConstants::constructed(const Declaration& type, const std::vector<Tokens>& given,
                                   const Declaration* scope) const {
  const Declaration* constructor = only_function(methods(type, type.name), given.size());
  if (constructor == nullptr) return std::nullopt;
  std::vector<Value> arguments;
  arguments.reserve(given.size());
  for (const Tokens each : given) arguments.push_back(value(each, scope));
  SourceFrame frame;
  add_parameters(*constructor, arguments, frame);
  SourceValue::Fields fields;
  for (const Tokens each : split_at_commas(initializers(*constructor))) {
    const auto field = std::find_if(type.members.begin(), type.members.end(), [&](const auto& one) {
      return one->kind == Declared::field && each[0].is(one->name);
    });
    if (field == type.members.end() || each.size() < 4 || !each[1].is("(")) return std::nullopt;
    const Value value = converted(
        evaluate(each.subspan(2, each.size() - 3), constructor, *this, frame), (*field)->head);
    frame[(*field)->name] = value;
    if (value) fields.emplace((*field)->name, *value);
  }
  if (fields.empty()) return std::nullopt;
  return SourceValue{0, std::make_shared<const SourceValue::Fields>(std::move(fields)), &type};
}

const Declaration* SourceConstants::function(std::string_view name, size_t arguments) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return nullptr;
  const Declaration* function = only_function(found->second, arguments);
  const bool fits =
      function != nullptr && function->parameters.empty() && has_token(function->head, "constexpr");
  return fits ? function : nullptr;
}

Value SourceConstants::called(std::string_view name, const std::vector<Value>& arguments) const {
  const Declaration* callee = function(name, arguments.size());
  return callee == nullptr ? std::nullopt : returned(*callee, arguments, {});
}

Value SourceConstants::called_on(const SourceValue& object, std::string_view name,
                                 const std::vector<Value>& arguments) const {
  if (object.type == nullptr) return std::nullopt;
  const Declaration* method = only_function(methods(*object.type, name), arguments.size());
  if (method == nullptr || !method->parameters.empty() || !has_token(method->head, "constexpr"))
    return std::nullopt;
  return returned(*method, arguments, *object.fields);
}

// `fields` are those of the object that a function of a class is called on.
Value SourceConstants::returned(const Declaration& function, const std::vector<Value>& arguments,
                                const SourceValue::Fields& fields) const {
  if (depth_ > kMostCalls) return std::nullopt;
  SourceFrame frame;
  for (const auto& [name, value] : fields) frame.emplace(name, value);
  add_parameters(function, arguments, frame);
  ++depth_;
  const Value result = evaluate_call(function, std::move(frame), *this);
  --depth_;
  return converted(result, function.head);
}

Tokens SourceConstants::aliased_type(std::string_view name, Tokens arguments,
                                     std::string_view alias, const Declaration* scope) const {
  const auto types = types_.find(name);
  const auto given = split_at_commas(arguments);
  if (types == types_.end()) return {};
  const Declaration* chosen = primary(name);
  for (const Declaration* type : types->second) {
    if (!type->specialises) continue;
    bool fits = true;
    for (size_t i = 0; i < type->pattern.size(); ++i) {
      const Value wanted = value(type->pattern[i], type);
      const Value is = i < given.size() ? value(given[i], scope) : std::nullopt;
      if (!wanted || !is) return {};
      fits = fits && *wanted == *is;
    }
    if (fits) chosen = type;
  }
  if (chosen == nullptr) return {};
  const auto found = std::find_if(
      chosen->members.begin(), chosen->members.end(),
      [&](const auto& member) { return member->kind == Declared::alias && member->name == alias; });
  return found == chosen->members.end() ? Tokens{} : (*found)->value;
}

}  // namespace gemmtune::codegen
