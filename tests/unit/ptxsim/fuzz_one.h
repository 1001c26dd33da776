// One input of the parser's fuzzer, also used by the mutation test.
#pragma once

#include <string_view>

#include "ptxsim/decode/program.h"
#include "ptxsim/syntax/parser.h"

namespace gemmtune::ptxsim::testing {

// Parses the text and decodes every kernel in it. Nothing may crash; an error must have a message.
inline bool fuzz_one(std::string_view text) {
  const Expected<Module> module = parse(text, "fuzz");
  if (!module) return !module.error().message.empty();
  bool ok = true;
  for (const ast::Function& function : module->functions) {
    if (!function.is_entry || !function.has_body) continue;
    const Expected<Program> program = decode(*module, function.name);
    ok = ok && (program.has_value() || !program.error().message.empty());
  }
  return ok;
}

}  // namespace gemmtune::ptxsim::testing
