#pragma once

#include <cstdint>
#include <deque>
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
  const Declaration* type = nullptr;  // of an object

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
  // The same where it is one in all uses of the class templates around it, also where these do not
  // agree on a parameter.
  Value value_of_all_uses(SourceTokens expression, const Declaration* scope) const;
  // A value that an expression has, and those that the parameters of the innermost class template
  // around it have then.
  struct Case {
    SourceValue value;
    std::vector<Value> parameters;
  };
  // One for each use; none where a value is not known.
  std::vector<Case> cases(SourceTokens expression, const Declaration* scope) const;
  // False if the specialisation of a class, or a function that takes one by reference, is for
  // arguments that no use of its template has.
  bool may_be_used(const Declaration& declaration) const;

  // What is named in an expression is looked up by these.
  Value named(std::string_view name, const Declaration* scope) const;
  // A constant of the class that `type` is; nothing else is known of it.
  Value member(SourceTokens type, std::string_view name, const Declaration* scope) const;
  bool is_template(std::string_view name) const { return templates_.contains(name); }
  Value called(std::string_view name, const std::vector<Value>& arguments) const;
  // What a function of the object's class returns.
  Value called_on(const SourceValue& object, std::string_view name,
                  const std::vector<Value>& arguments) const;
  // The constexpr function of a namespace that such a call is of, if it can be one only.
  const Declaration* function(std::string_view name, size_t arguments) const;

  // What `alias` of the class `name<arguments>` stands for. Empty where it is not certain which
  // specialisation that is.
  SourceTokens aliased_type(std::string_view name, SourceTokens arguments, std::string_view alias,
                            const Declaration* scope) const;

  // A value as an object of the type that `type` has among its words.
  static Value converted(Value value, SourceTokens type);

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
  // Uses that are assumed as long as this lives.
  class Instances {
   public:
    explicit Instances(const SourceConstants& constants) : constants_(constants) {}
    ~Instances();
    Instances(const Instances&) = delete;
    Instances& operator=(const Instances&) = delete;

    void add(const Declaration& of, Use use);

   private:
    const SourceConstants& constants_;
    std::deque<Use> uses_;
    std::map<const Declaration*, const Use*> assumed_before_;
    std::map<Parameter, Value> known_before_;
  };

  static constexpr int kMostCalls = 16;      // of functions, one in the other
  static constexpr size_t kMostAssumed = 4;  // of uses at a time

  void collect(const Declarations& declarations);
  void collect_enumerators(const Declaration& declaration);
  void collect_uses(const Declaration& declaration);
  static void qualify(SourceTokens tokens, size_t at, Use& use);
  void take_name(const Declaration& declaration, SourceTokens tokens, size_t at);
  void find_uses(const Declarations& declarations);

  bool may_mean(const Use& use, const Declaration& function) const;
  bool collect_cases(SourceTokens expression, const Declaration* scope,
                     std::vector<const Declaration*>& places, std::vector<Case>& found) const;
  const Declaration* template_around(const std::vector<const Declaration*>& places) const;
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
  Value constructed(const Declaration& type, const std::vector<SourceTokens>& given,
                    const Declaration* scope) const;
  Value returned(const Declaration& function, const std::vector<Value>& arguments,
                 const SourceValue::Fields& fields) const;
  const Declaration* primary(std::string_view name) const;
  const Declaration* only_type(std::string_view name) const;
  const Declaration* type_of(SourceTokens type, const Declaration* scope, int depth,
                             Instances* instances = nullptr) const;
  const Declaration* type_argument(const Declaration& of, size_t index, int depth,
                                   Instances* instances) const;
  const Declaration* alias(std::string_view name, const Declaration* scope) const;

  std::map<std::string_view, std::vector<const Declaration*>> types_;
  std::map<std::string_view, std::vector<const Declaration*>> functions_;  // of namespaces
  std::map<std::string_view, std::vector<const Declaration*>> globals_;    // constants and aliases
  std::set<std::string_view> members_;
  std::map<std::string_view, int64_t> enumerators_;
  std::set<std::string_view> templates_;
  std::set<std::string_view> bare_;  // classes that are named without arguments
  std::map<std::string_view, std::vector<Use>> uses_;
  mutable std::map<Parameter, Value> known_;  // with the uses that are assumed
  mutable std::map<const Declaration*, const Use*> assumed_;
  mutable std::set<Parameter> asked_;  // of those whose value is being found
  mutable int depth_ = 0;              // of calls
};

}  // namespace gemmtune::codegen
