#include <bit>
#include <utility>

#include "ptxsim/syntax/parser_state.h"

namespace gemmtune::ptxsim {

namespace {
constexpr int kMaxOperandDepth = 4;
}  // namespace

// file line column [, function_name label [+n], inlined_at file line column]
bool Parser::location() {
  uint64_t file = 0;
  uint64_t line = 0;
  uint64_t column = 0;
  if (!integer(file, "a file number") || !integer(line, "a line") || !integer(column, "a column")) {
    return false;
  }
  source_ = SourceLine{static_cast<uint32_t>(file), static_cast<uint32_t>(line)};
  while (accept(',')) {
    std::string_view word;
    if (!identifier(word, "function_name or inlined_at")) return false;
    if (word == "function_name") {
      if (!identifier(word, "a label")) return false;
      int64_t ignored = 0;
      if (accept('+') && !signed_integer(ignored)) return false;
    } else {
      if (!integer(file, "a file number") || !integer(line, "a line") ||
          !integer(column, "a column")) {
        return false;
      }
    }
  }
  return true;
}

bool Parser::instruction(std::vector<ast::Statement>& out) {
  ast::Instruction parsed;
  parsed.at = token_.at;
  parsed.source = source_;
  if (accept('@')) {
    parsed.guard_negated = accept('!');
    if (!identifier(parsed.guard, "a predicate")) return false;
    parsed.at = token_.at;
  }
  if (!identifier(parsed.opcode, "an instruction")) return false;
  if (parsed.guard.empty() && accept(':')) return labelled(parsed.opcode, parsed.at, out);
  while (token_.kind == Token::Kind::directive) {
    parsed.modifiers.push_back(token_.text);
    shift();
  }
  if (!token_.is(';') && !operands(parsed)) return false;
  if (!expect(';')) return false;
  out.emplace_back(std::move(parsed));
  return true;
}

bool Parser::labelled(std::string_view label, Position at, std::vector<ast::Statement>& out) {
  if (!token_.is_directive("branchtargets")) {
    out.emplace_back(ast::Label{label, at});
    return true;
  }
  shift();
  ast::BranchTargets targets;
  targets.name = label;
  targets.at = at;
  do {
    std::string_view target;
    if (!identifier(target, "a label")) return false;
    targets.labels.push_back(target);
  } while (accept(','));
  out.emplace_back(std::move(targets));
  return expect(';');
}

bool Parser::operands(ast::Instruction& out) {
  do {
    ast::Operand first;
    if (!operand(first, 0)) return false;
    if (accept('|')) {
      ast::Operand pair;
      pair.kind = ast::Operand::Kind::pair;
      pair.at = first.at;
      pair.elements.push_back(std::move(first));
      pair.elements.emplace_back();
      if (!operand(pair.elements.back(), 1)) return false;
      first = std::move(pair);
    }
    out.operands.push_back(std::move(first));
  } while (accept(','));
  return true;
}

bool Parser::operand(ast::Operand& out, int depth) {
  if (depth > kMaxOperandDepth) return fail("operands nested too deeply");
  out.at = token_.at;
  if (accept('{')) {
    out.kind = ast::Operand::Kind::vector;
    return sequence(out, '}', depth);
  }
  if (accept('(')) {
    out.kind = ast::Operand::Kind::list;
    return accept(')') || sequence(out, ')', depth);
  }
  if (accept('[')) return address(out, depth);
  return simple_operand(out);
}

bool Parser::sequence(ast::Operand& out, char close, int depth) {
  do {
    out.elements.emplace_back();
    if (!operand(out.elements.back(), depth + 1)) return false;
  } while (accept(','));
  return expect(close);
}

bool Parser::address(ast::Operand& out, int depth) {
  out.kind = ast::Operand::Kind::address;
  do {
    out.elements.emplace_back();
    if (!operand(out.elements.back(), depth + 1)) return false;
  } while (accept(','));
  ast::Operand& base = out.elements.front();
  if (base.kind == ast::Operand::Kind::name) std::swap(out.offset, base.offset);
  return expect(']');
}

bool Parser::signed_integer(int64_t& out) {
  const bool negative = accept('-');
  uint64_t bits = 0;
  if (!integer(bits, "an integer")) return false;
  out = static_cast<int64_t>(negative ? ~bits + 1 : bits);
  return true;
}

bool Parser::constant(ast::Operand& out, bool negative) {
  if (token_.kind == Token::Kind::integer) {
    out.kind = ast::Operand::Kind::integer;
    out.bits = negative ? ~token_.bits + 1 : token_.bits;
  } else if (token_.kind == Token::Kind::f32) {
    out.kind = ast::Operand::Kind::f32;
    out.bits = negative ? token_.bits ^ 0x80000000U : token_.bits;
  } else if (token_.kind == Token::Kind::f64) {
    out.kind = ast::Operand::Kind::f64;
    out.bits = negative ? token_.bits ^ (uint64_t{1} << 63) : token_.bits;
  } else {
    return fail("expected an operand");
  }
  shift();
  return true;
}

bool Parser::simple_operand(ast::Operand& out) {
  out.negated = accept('!');
  if (token_.kind != Token::Kind::identifier) {
    if (out.negated) return fail("expected a predicate");
    const bool negative = accept('-');
    return constant(out, negative);
  }
  out.kind = ast::Operand::Kind::name;
  if (!identifier(out.name, "an operand")) return false;
  if (token_.kind == Token::Kind::directive) {
    out.component = token_.text;
    shift();
  }
  if (accept('+')) return signed_integer(out.offset);
  if (accept('-')) {
    if (!signed_integer(out.offset)) return false;
    out.offset = static_cast<int64_t>(~static_cast<uint64_t>(out.offset) + 1);
  }
  return true;
}

}  // namespace gemmtune::ptxsim
