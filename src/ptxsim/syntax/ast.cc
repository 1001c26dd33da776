#include "ptxsim/syntax/ast.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gemmtune::ptxsim {

namespace {

struct TypeRow {
  std::string_view name;
  Type type;
  uint32_t bytes;
};

constexpr std::array kTypes = {
    TypeRow{"pred", Type::pred, 0}, TypeRow{"b8", Type::b8, 1},
    TypeRow{"b16", Type::b16, 2},   TypeRow{"b32", Type::b32, 4},
    TypeRow{"b64", Type::b64, 8},   TypeRow{"b128", Type::b128, 16},
    TypeRow{"u8", Type::u8, 1},     TypeRow{"u16", Type::u16, 2},
    TypeRow{"u32", Type::u32, 4},   TypeRow{"u64", Type::u64, 8},
    TypeRow{"s8", Type::s8, 1},     TypeRow{"s16", Type::s16, 2},
    TypeRow{"s32", Type::s32, 4},   TypeRow{"s64", Type::s64, 8},
    TypeRow{"f16", Type::f16, 2},   TypeRow{"f16x2", Type::f16x2, 4},
    TypeRow{"bf16", Type::bf16, 2}, TypeRow{"bf16x2", Type::bf16x2, 4},
    TypeRow{"tf32", Type::tf32, 4}, TypeRow{"f32", Type::f32, 4},
    TypeRow{"f64", Type::f64, 8},
};

}  // namespace

std::string_view name_of(Space space) {
  static constexpr std::array<std::string_view, 6> kNames = {"generic", "global",    "shared",
                                                             "local",   "parameter", "constant"};
  return kNames[static_cast<size_t>(space)];
}

Type type_of(std::string_view modifier) {
  for (const TypeRow& row : kTypes) {
    if (row.name == modifier) return row.type;
  }
  return Type::none;
}

uint32_t size_of(Type type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.bytes;
  }
  return 0;
}

namespace ast {

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::mnemonic() const {
  std::string out(opcode);
  for (std::string_view modifier : modifiers) {
    out += '.';
    out += modifier;
  }
  return out;
}

}  // namespace ast

const ast::Function* Module::find_function(std::string_view function_name) const {
  const ast::Function* declaration = nullptr;
  for (const ast::Function& function : functions) {
    if (function.name != function_name) continue;
    if (function.has_body) return &function;
    declaration = &function;
  }
  return declaration;
}

const ast::Variable* Module::find_variable(std::string_view variable_name) const {
  for (const ast::Variable& variable : variables) {
    if (variable.name == variable_name) return &variable;
  }
  return nullptr;
}

}  // namespace gemmtune::ptxsim
