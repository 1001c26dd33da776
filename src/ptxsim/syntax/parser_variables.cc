#include <fmt/format.h>

#include <utility>

#include "ptxsim/syntax/parser_state.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 32;
constexpr uint32_t kMaxRegisters = 1U << 20;

Space space_of(std::string_view directive) {
  if (directive == "shared") return Space::shared;
  if (directive == "local") return Space::local;
  if (directive == "const") return Space::constant;
  if (directive == "param") return Space::param;
  return Space::global;
}

}  // namespace

bool Parser::register_declaration(std::vector<ast::Statement>& out) {
  if (token_.is_directive("v2") || token_.is_directive("v4")) {
    return fail("vector registers are not simulated");
  }
  const Type type = token_.kind == Token::Kind::directive ? type_of(token_.text) : Type::none;
  if (type == Type::none) return fail("expected a register type");
  shift();
  do {
    ast::RegisterDeclaration declaration;
    declaration.type = type;
    declaration.at = token_.at;
    if (!identifier(declaration.name, "a register name")) return false;
    if (accept('<')) {
      uint64_t count = 0;
      const Token at = token_;
      if (!integer(count, "a register count")) return false;
      if (count == 0 || count > kMaxRegisters) return fail_at(at, "expected a count up to 2^20");
      declaration.count = static_cast<uint32_t>(count);
      if (!expect('>')) return false;
    }
    out.emplace_back(declaration);
  } while (accept(','));
  return expect(';');
}

// .align N .v4 .ptr .space .type, in the orders that nvcc uses.
bool Parser::variable_prefix(ast::Variable& out, uint32_t& vector_length) {
  bool aligned = false;
  bool pointer = false;
  out.type = Type::none;
  while (token_.kind == Token::Kind::directive) {
    const std::string_view name = token_.text;
    shift();
    if (name == "align") {
      uint64_t bytes = 0;
      const Token at = token_;
      if (!integer(bytes, "an alignment")) return false;
      if (bytes == 0 || bytes > 65536 || (bytes & (bytes - 1)) != 0) {
        return fail_at(at, "expected an alignment that is a power of two");
      }
      if (!pointer) {  // after .ptr it is the pointee's
        out.alignment = static_cast<uint32_t>(bytes);
        aligned = true;
      }
    } else if (name == "v2" || name == "v4") {
      vector_length = name == "v2" ? 2 : 4;
    } else if (name == "ptr") {
      pointer = true;
    } else if (name == "attribute") {
      if (!expect('(')) return false;
      while (!token_.is(')')) {
        if (token_.kind == Token::Kind::end) return fail("expected \")\"");
        shift();
      }
      shift();
    } else if (type_of(name) != Type::none) {
      out.type = type_of(name);
    } else if (!pointer) {
      return fail(fmt::format("expected a type instead of .{}", name));
    }
  }
  if (out.type == Type::none || out.type == Type::pred) return fail("expected a variable type");
  if (!aligned) out.alignment = size_of(out.type) * vector_length;
  return true;
}

bool Parser::variables(bool is_extern, std::vector<ast::Variable>& out) {
  ast::Variable prototype;
  prototype.space = space_of(token_.text);
  prototype.is_extern = is_extern;
  prototype.at = token_.at;
  shift();
  uint32_t vector_length = 1;
  if (!variable_prefix(prototype, vector_length)) return false;
  do {
    ast::Variable declared;
    if (!variable(prototype, declared)) return false;
    declared.bytes *= vector_length;
    out.push_back(std::move(declared));
  } while (accept(','));
  return expect(';');
}

bool Parser::variable(ast::Variable prototype, ast::Variable& out) {
  out = std::move(prototype);
  out.at = token_.at;
  if (!identifier(out.name, "a variable name")) return false;
  out.bytes = size_of(out.type);
  while (accept('[')) {
    out.is_array = true;
    uint64_t extent = 0;
    if (!token_.is(']') && !integer(extent, "an array extent")) return false;
    if (extent > kMaxVariableBytes || out.bytes * extent > kMaxVariableBytes) {
      return fail("the array is larger than 4 GiB");
    }
    out.bytes *= extent;
    if (!expect(']')) return false;
  }
  if (token_.is('=')) {
    shift();
    return initializer(out);
  }
  return true;
}

bool Parser::initializer(ast::Variable& out) {
  uint64_t at = 0;
  if (!accept('{')) {
    if (!initial_value(out, at)) return false;
  } else {
    int depth = 1;  // nested braces only group
    while (depth > 0) {
      if (accept('{')) {
        if (++depth > 8) return fail("initialisers nested too deeply");
      } else if (accept('}')) {
        --depth;
        if (depth > 0) accept(',');
      } else {
        if (!initial_value(out, at)) return false;
        if (!token_.is('}') && !expect(',')) return false;
      }
    }
  }
  if (out.bytes == 0) out.bytes = out.initial.size();
  return out.initial.size() <= out.bytes || fail("more initial values than elements");
}

bool Parser::initial_value(ast::Variable& out, uint64_t& at) {
  const uint32_t bytes = size_of(out.type);
  uint64_t bits = 0;
  if (token_.kind == Token::Kind::identifier) {
    const bool generic = token_.text == "generic";
    if (generic) {
      shift();
      if (!expect('(')) return false;
    }
    ast::Variable::Relocation relocation;
    relocation.at = at;
    relocation.bytes = bytes;
    if (!identifier(relocation.name, "a variable name")) return false;
    if (generic && !expect(')')) return false;
    if (accept('+') && !signed_integer(relocation.offset)) return false;
    out.relocations.push_back(relocation);
  } else {
    ast::Operand value;
    const bool negative = accept('-');
    if (!constant(value, negative)) return false;
    if (token_.is('(')) return fail("a byte mask of an address is not simulated");
    bits = value.bits;
  }
  for (uint32_t i = 0; i < bytes; ++i) {
    out.initial.push_back(static_cast<uint8_t>(i < 8 ? bits >> (8 * i) : 0));
  }
  at += bytes;
  return true;
}

}  // namespace gemmtune::ptxsim
