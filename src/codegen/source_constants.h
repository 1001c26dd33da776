#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/source_declarations.h"

namespace gemmtune::codegen {

// The value of a constant expression: a number, or an object by its fields.
struct SourceValue {
  using Fields = std::map<std::string_view, SourceValue, std::less<>>;

  int64_t number = 0;
  std::shared_ptr<const Fields> fields;

  bool operator==(const SourceValue& other) const;
};

// What the constants of a source are, where all that the source says of them agrees: a template's
// parameter is known where every use of the template gives it the same value. What is not
// understood is not known, so that there may be more values than are found, but no others.
class SourceConstants {
 public:
  using Value = std::optional<SourceValue>;
  using Declarations = std::vector<std::unique_ptr<Declaration>>;

  // Refers to `declarations`, all there are; templates that `elsewhere` names may have any
  // arguments.
  SourceConstants(const Declarations& declarations, SourceTokens elsewhere);

  // Of an expression in `scope`, or outside of all declarations.
  Value value(SourceTokens expression, const Declaration* scope) const;
  // False if the specialisation of a class, or a function that takes one by reference, is for
  // arguments that no use of its template has.
  bool may_be_used(const Declaration& declaration) const;

  // What is named in an expression is looked up by these.
  Value named(std::string_view name, const Declaration* scope) const;
  // A constant of the class that `type` is; nothing else is known of it.
  Value member(SourceTokens type, std::string_view name, const Declaration* scope) const;
  bool is_template(std::string_view name) const { return templates_.contains(name); }
  Value called(std::string_view name, const std::vector<Value>& arguments) const;

 private:
  // What stands before a name.
  enum class Qualifier { none, object, type };
  // A template's name with its arguments; of functions also without, where they are deduced.
  struct Use {
    const Declaration* scope = nullptr;
    Qualifier qualifier = Qualifier::none;
    SourceTokens type;  // that qualifies it, where that is one word
    bool has_arguments = false;
    bool understood = false;
    bool in_parameters = false;  // of the function `scope`
    bool by_reference = false;   // ... of one that is a reference to what can be changed
    std::vector<SourceTokens> arguments;
  };
  using Parameter = std::pair<const Declaration*, size_t>;

  void collect(const Declarations& declarations);
  void collect_enumerators(const Declaration& declaration);
  void collect_uses(const Declaration& declaration);
  static void qualify(SourceTokens tokens, size_t at, Use& use);
  void take_name(const Declaration& declaration, SourceTokens tokens, size_t at);
  void find_uses(const Declarations& declarations);

  bool may_mean(const Use& use, const Declaration& function) const;
  bool is_given(const Declaration& function, std::string_view parameter) const;
  bool makes_objects(const Use& use) const;
  Value argument(const Use& use, const Declaration& primary, size_t index) const;
  Value parameter(const Declaration& declaration, size_t index) const;
  Value agreed(const Declaration& declaration, size_t index) const;
  bool fits(const Use& use, const Declaration& primary, const std::vector<SourceTokens>& pattern,
            const Declaration& of) const;
  bool is_made(std::string_view name, const std::vector<SourceTokens>& pattern,
               const Declaration& of) const;
  std::optional<Value> local(const Declaration& function, std::string_view name) const;
  static bool declares(SourceTokens body, size_t at);
  Value constant(const Declaration& declaration) const;
  Value object(std::string_view type, SourceTokens braces, const Declaration* scope) const;
  const Declaration* primary(std::string_view name) const;
  const Declaration* only_type(std::string_view name) const;
  const Declaration* type_of(SourceTokens type, const Declaration* scope, int depth) const;
  const Declaration* alias(std::string_view name, const Declaration* scope) const;

  std::map<std::string_view, std::vector<const Declaration*>> types_;
  std::map<std::string_view, std::vector<const Declaration*>> functions_;  // of namespaces
  std::map<std::string_view, std::vector<const Declaration*>> globals_;    // constants and aliases
  std::set<std::string_view> members_;
  std::map<std::string_view, int64_t> enumerators_;
  std::set<std::string_view> templates_;
  std::set<std::string_view> bare_;  // classes that are named without arguments
  std::map<std::string_view, std::vector<Use>> uses_;
  mutable std::map<Parameter, Value> known_;
  mutable std::set<Parameter> asked_;  // of those whose value is being found
  mutable int depth_ = 0;              // of calls
};

}  // namespace gemmtune::codegen
