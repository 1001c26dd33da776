// What is known of class templates whose uses do not agree.
#include <algorithm>
#include <utility>

#include "codegen/source_constants.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;
using Tokens = SourceTokens;
using Value = SourceConstants::Value;
using Case = SourceConstants::Case;

constexpr int kMostAliases = 16;  // of types, one of the other

const Declaration* class_template_around(const Declaration* scope) {
  while (scope != nullptr && (scope->kind != Declared::type || scope->parameters.empty()))
    scope = scope->parent;
  return scope;
}

}  // namespace

Value SourceConstants::value_of_all_uses(Tokens expression, const Declaration* scope) const {
  const std::vector<Case> all = cases(expression, scope);
  if (all.empty()) return std::nullopt;
  const bool same = std::all_of(all.begin(), all.end(),
                                [&](const Case& each) { return each.value == all.front().value; });
  return same ? std::optional<SourceValue>(all.front().value) : std::nullopt;
}

std::vector<Case> SourceConstants::cases(Tokens expression, const Declaration* scope) const {
  std::vector<Case> found;
  std::vector<const Declaration*> places = {scope};
  const bool all = collect_cases(expression, scope, places, found);
  return all ? found : std::vector<Case>{};
}

// `places` are the scopes of the expression and of the uses that are assumed. False if a value is
// not found.
bool SourceConstants::collect_cases(Tokens expression, const Declaration* scope,
                                    std::vector<const Declaration*>& places,
                                    std::vector<Case>& found) const {
  if (const Value known = value(expression, scope)) {
    Case one{*known, {}};
    const Declaration* of = class_template_around(scope);
    for (size_t i = 0; of != nullptr && i < of->parameters.size(); ++i)
      one.parameters.push_back(parameter(*of, i));
    found.push_back(std::move(one));
    return true;
  }
  const Declaration* of = places.size() > kMostAssumed ? nullptr : template_around(places);
  if (of == nullptr) return false;
  for (const Use& use : uses_.find(of->name)->second) {
    if (!makes_objects(use)) continue;
    if (!use.understood || is_inside(use.scope, *of)) return false;
    auto before = std::exchange(known_, {});
    assumed_[of] = &use;
    places.push_back(use.scope);
    const bool all = collect_cases(expression, scope, places, found);
    places.pop_back();
    assumed_.erase(of);
    known_ = std::move(before);
    if (!all) return false;
  }
  return !found.empty();
}

// A class around one of the places that is a template of which no use is assumed.
const Declaration* SourceConstants::template_around(
    const std::vector<const Declaration*>& places) const {
  for (const Declaration* place : places) {
    for (const Declaration* in = place; in != nullptr; in = in->parent) {
      if (in->kind == Declared::type && !in->parameters.empty() && in == only_type(in->name) &&
          !in->specialises && !bare_.contains(in->name) && uses_.contains(in->name) &&
          !assumed_.contains(in))
        return in;
    }
  }
  return nullptr;
}

SourceConstants::Instances::~Instances() {
  if (uses_.empty()) return;
  constants_.assumed_ = std::move(assumed_before_);
  constants_.known_ = std::move(known_before_);
}

void SourceConstants::Instances::add(const Declaration& of, Use use) {
  if (uses_.empty()) {
    assumed_before_ = constants_.assumed_;
    known_before_ = std::exchange(constants_.known_, {});
  }
  uses_.push_back(std::move(use));
  constants_.assumed_[&of] = &uses_.back();
  constants_.known_.clear();
}

// What the uses of a class template give for a parameter that is a type, or its default.
const Declaration* SourceConstants::type_argument(const Declaration& of, size_t index, int depth,
                                                  Instances* instances) const {
  const auto uses = uses_.find(of.name);
  if (of.kind != Declared::type || of.specialises || uses == uses_.end() ||
      bare_.contains(of.name) || only_type(of.name) != &of)
    return nullptr;
  const auto type = [&](const Use& use, Instances* with) {
    const bool given = index < use.arguments.size();
    return type_of(given ? use.arguments[index] : of.parameters[index].fallback,
                   given ? use.scope : &of, depth + 1, with);
  };
  if (const auto use = assumed_.find(&of); use != assumed_.end())
    return type(*use->second, instances);
  const Declaration* agreed = nullptr;
  for (const Use& use : uses->second) {
    if (!makes_objects(use)) continue;
    const Declaration* one = use.understood ? type(use, nullptr) : nullptr;
    if (one == nullptr || (agreed != nullptr && agreed != one)) return nullptr;
    agreed = one;
  }
  return agreed;
}

// The class that is meant, if there is but one declaration that can be. With `instances`, those of
// templates on the way to it are assumed to be of the arguments that are named.
const Declaration* SourceConstants::type_of(Tokens type, const Declaration* scope, int depth,
                                            Instances* instances) const {
  if (depth > kMostAliases) return nullptr;
  if (!type.empty() && type[0].is("typename")) type = type.subspan(1);
  if (type.empty() || !is_word(type[0])) return nullptr;
  const Declaration* found = alias(type[0].text, scope);
  const bool is_parameter =
      found != nullptr && parameter_index(*found, type[0].text) < found->parameters.size();
  if (is_parameter) {
    found = type_argument(*found, parameter_index(*found, type[0].text), depth, instances);
  } else if (found != nullptr && found->kind != Declared::type) {
    if (found->kind != Declared::alias) return nullptr;
    found = type_of(found->value, found->parent, depth + 1, instances);
  } else {
    found = only_type(type[0].text);
  }
  size_t at = 1;
  if (at < type.size() && type[at].is("<")) {
    const AngleRange angles = angles_at(type, at);
    at = angles.end;
    // What is known of another use is not known of this one.
    if (found != nullptr && assumed_.contains(found)) return nullptr;
    const bool may_assume = instances != nullptr && found != nullptr && !is_parameter &&
                            found->kind == Declared::type && !found->parameters.empty() &&
                            !is_inside(scope, *found);
    if (may_assume) {
      Use use;
      use.scope = scope;
      use.has_arguments = use.understood = true;
      use.arguments = split_at_commas(angles.inside);
      for (const Tokens argument : use.arguments)
        use.understood = use.understood && !has_token(argument, "..");
      instances->add(*found, std::move(use));
    }
  }
  if (found == nullptr || at == type.size()) return found;
  if (at == 0 || !is_pair(type, at, "::")) return nullptr;
  return type_of(type.subspan(at + 2), found, depth + 1, instances);
}

}  // namespace gemmtune::codegen
