#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/source_tokens.h"

namespace gemmtune::codegen {

using SourceTokens = std::span<const SourceToken>;

// A parameter of a template.
struct TemplateParameter {
  std::string_view name;  // empty where that is not understood
  bool is_type = false;
  SourceTokens type;      // of a value
  SourceTokens fallback;  // its default argument
};

// A declaration of a CUDA C++ source, in a namespace or a class, with those in it. All tokens count
// (SourceToken::counts()).
struct Declaration {
  enum class Kind { function, type, enumeration, alias, constant, field, other };

  Kind kind = Kind::other;
  std::string_view name;  // empty where that is not understood
  std::vector<TemplateParameter> parameters;
  bool specialises = false;
  std::vector<SourceTokens> pattern;  // what a specialisation of a class is for
  SourceTokens tokens;                // all of it
  SourceTokens head;                  // behind the template's parameters, up to the name
  SourceTokens arguments;             // of a function: what is between its parentheses
  SourceTokens value;  // of a function or type what is between its braces; of others the value
  bool is_derived = false;
  const Declaration* parent = nullptr;  // the class that it is in
  std::vector<std::unique_ptr<Declaration>> members;
};

// The declarations of a source, whose counting tokens are `tokens`; namespaces are opened.
std::vector<std::unique_ptr<Declaration>> declarations_of(SourceTokens tokens);

// Whether a declaration is `outer` or in it.
bool is_inside(const Declaration* scope, const Declaration& outer);

// Which of a template's parameters has that name; as many as there are if none has.
size_t parameter_index(const Declaration& declaration, std::string_view parameter);

bool has_token(SourceTokens tokens, std::string_view text);

// The index of the bracket that closes the one at `open`, or of the end.
size_t closing_bracket(SourceTokens tokens, size_t open);

// Whether tokens[at] and the next one are the two characters of `mark`, side by side.
bool is_pair(SourceTokens tokens, size_t at, std::string_view mark);

// The parts of `tokens` between commas that are in no brackets, angles included.
std::vector<SourceTokens> split_at_commas(SourceTokens tokens);

// What is between the angles that open at `open`, a "<" behind a template's name. Not more than a
// compiler would take: comparisons in it stand in parentheses. Empty with `end` = 0 where the
// angles do not match.
struct AngleRange {
  SourceTokens inside;
  size_t end = 0;  // behind the closing angle
};
AngleRange angles_at(SourceTokens tokens, size_t open);

}  // namespace gemmtune::codegen
