#include "ptxsim/decode/decode_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptxsim/decode/half.h"

namespace gemmtune::ptxsim {

using Kind = ast::Operand::Kind;

bool DecodeContext::fail(const std::string& message) {
  return decoder_.fail(in.at, fmt::format("{}: {}", in.mnemonic(), message));
}

bool DecodeContext::unknown(const std::string& why) {
  return decoder_.fail(in.at,
                       fmt::format("the instruction \"{}\" is not simulated{}{}", in.mnemonic(),
                                   why.empty() ? "" : ": ", why),
                       ErrorKind::unsupported);
}

bool DecodeContext::only(std::initializer_list<std::string_view> allowed) {
  for (std::string_view modifier : in.modifiers) {
    if (type_of(modifier) != Type::none) continue;
    if (std::find(allowed.begin(), allowed.end(), modifier) == allowed.end()) {
      return unknown(fmt::format("because of .{}", modifier));
    }
  }
  return true;
}

std::vector<Type> DecodeContext::types() const {
  std::vector<Type> out;
  for (std::string_view modifier : in.modifiers) {
    const Type type = type_of(modifier);
    if (type != Type::none) out.push_back(type);
  }
  return out;
}

Type DecodeContext::type() const {
  const std::vector<Type> all = types();
  return all.empty() ? Type::none : all.back();
}

bool DecodeContext::operand_count(size_t least, size_t most) {
  if (in.operands.size() >= least && in.operands.size() <= most) return true;
  return fail(fmt::format("has {} operands", in.operands.size()));
}

Row DecodeContext::note_read(Row row, uint32_t bytes) {
  for (uint32_t i = 0; i < words_of(bytes); ++i) program().reads.push_back(row + i * kWordStep);
  return row;
}

Row DecodeContext::note_write(Row row, uint32_t bytes) {
  for (uint32_t i = 0; i < words_of(bytes); ++i) program().writes.push_back(row + i * kWordStep);
  return row;
}

void DecodeContext::passes_words(const std::vector<Row>& from, const std::vector<Row>& to) {
  program().reads.resize(out.first_read);
  program().reads.insert(program().reads.end(), from.begin(), from.end());
  program().writes.resize(out.first_write);
  program().writes.insert(program().writes.end(), to.begin(), to.end());
  out.passes_words = true;
}

Row DecodeContext::destination(const ast::Operand& operand, Type type) {
  uint32_t width = 0;
  const Row row = loose_destination(operand, type, width);
  if (row != kNoRow && width != size_of(type)) {
    fail(fmt::format("\"{}\" has {} bytes where {} are written", operand.name, width,
                     size_of(type)));
    return kNoRow;
  }
  return row;
}

Row DecodeContext::loose_destination(const ast::Operand& operand, Type type, uint32_t& width) {
  if (operand.kind != Kind::name || operand.negated) {
    fail("the destination must be a register");
    return kNoRow;
  }
  if (operand.name == "_") {
    width = size_of(type);
    return decoder_.allocate_row(width);
  }
  const Symbol* symbol = decoder_.find_register(operand.name);
  if (symbol == nullptr || symbol->type == Type::pred) {
    fail(fmt::format("\"{}\" is not a register to write", operand.name));
    return kNoRow;
  }
  width = size_of(symbol->type);
  if (width < size_of(type)) {
    fail(fmt::format("\"{}\" is too narrow", operand.name));
    return kNoRow;
  }
  return note_write(symbol->row, width);
}

uint64_t DecodeContext::immediate_bits(const ast::Operand& operand, Type type) const {
  const uint64_t bits = operand.bits;
  const bool from_single = operand.kind == Kind::f32;
  const bool from_double = operand.kind == Kind::f64;
  if (from_single && type == Type::f64) {
    return std::bit_cast<uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  if (from_double && (type == Type::f32 || type == Type::b32)) {
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }
  if (from_double && type == Type::f16) return half_from_double(std::bit_cast<double>(bits));
  const uint32_t bytes = size_of(type);
  return bytes >= 8 || bytes == 0 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
}

Row DecodeContext::source_any(const ast::Operand& operand, Type type, bool exact, uint32_t& width) {
  width = size_of(type);
  if (operand.negated) {
    fail("\"!\" is not possible here");
    return kNoRow;
  }
  if (operand.kind == Kind::integer || operand.kind == Kind::f32 || operand.kind == Kind::f64) {
    return decoder_.immediate(immediate_bits(operand, type), width);
  }
  if (operand.kind != Kind::name) {
    fail("a plain operand is needed");
    return kNoRow;
  }
  if (operand.component.empty()) {
    if (Symbol* symbol = decoder_.find_register(operand.name)) {
      if (operand.offset != 0) {
        fail("a register plus an offset is only an address");
        return kNoRow;
      }
      if (symbol->type == Type::pred) {
        fail(fmt::format("\"{}\" is a predicate", operand.name));
        return kNoRow;
      }
      const uint32_t bytes = size_of(symbol->type);
      if (bytes < width || (exact && bytes != width)) {
        fail(fmt::format("\"{}\" has {} bytes where {} are read", operand.name, bytes, width));
        return kNoRow;
      }
      note_read(symbol->row, width);  // of a wider one the low part
      width = bytes;
      return symbol->row;
    }
    if (const Symbol* symbol = decoder_.find_symbol(operand.name)) {
      if (symbol->kind == Symbol::Kind::variable) {
        const uint64_t address = symbol->address + static_cast<uint64_t>(operand.offset);
        return decoder_.immediate(width >= 8 ? address : address & 0xFFFFFFFFU, width);
      }
    }
    if (width == 8) {
      if (const auto row = decoder_.module_variable(operand.name, operand.offset)) return *row;
    }
    if (operand.name == "WARP_SZ") return decoder_.immediate(kWarpSize, width);
  }
  if (const auto special = decoder_.special_register(operand)) {
    const uint32_t bytes = size_of(special->second);
    if (bytes >= width && (!exact || bytes == width)) {
      width = bytes;
      return special->first;
    }
  }
  fail(fmt::format("\"{}{}{}\" is not an operand of {} bytes that is declared or simulated",
                   operand.name, operand.component.empty() ? "" : ".", operand.component, width));
  return kNoRow;
}

Row DecodeContext::source(const ast::Operand& operand, Type type) {
  uint32_t width = 0;
  return source_any(operand, type, true, width);
}

Row DecodeContext::loose_source(const ast::Operand& operand, Type type, uint32_t& width) {
  return source_any(operand, type, false, width);
}

Row DecodeContext::predicate_destination(const ast::Operand& operand) {
  if (operand.kind == Kind::name && operand.name == "_") return decoder_.allocate_row(0);
  const Symbol* symbol =
      operand.kind == Kind::name ? decoder_.find_register(operand.name) : nullptr;
  if (symbol == nullptr || symbol->type != Type::pred || operand.negated) {
    fail(fmt::format("\"{}\" is not a predicate to write", operand.name));
    return kNoRow;
  }
  return note_write(symbol->row, 4);
}

Row DecodeContext::predicate_source(const ast::Operand& operand, bool& negated) {
  negated = operand.negated;
  if (operand.kind == Kind::integer) return decoder_.immediate(operand.bits != 0 ? ~0U : 0U, 4);
  const Symbol* symbol =
      operand.kind == Kind::name ? decoder_.find_register(operand.name) : nullptr;
  if (symbol == nullptr || symbol->type != Type::pred) {
    fail(fmt::format("\"{}\" is not a predicate", operand.name));
    return kNoRow;
  }
  return note_read(symbol->row, 4);
}

bool DecodeContext::constant(const ast::Operand& operand, int64_t& out) {
  if (operand.kind != Kind::integer) return fail("an integer constant is needed");
  out = static_cast<int64_t>(operand.bits);
  return true;
}

std::vector<const ast::Operand*> DecodeContext::elements(const ast::Operand& operand) {
  if (operand.kind != Kind::vector) return {&operand};
  std::vector<const ast::Operand*> out;
  for (const ast::Operand& element : operand.elements) out.push_back(&element);
  return out;
}

bool DecodeContext::address(const ast::Operand& operand, size_t index) {
  if (operand.kind != Kind::address || operand.elements.size() != 1) {
    return fail("an address in [ ] is needed");
  }
  const ast::Operand& base = operand.elements.front();
  out.immediate = operand.offset;
  out.access.wide_address = true;
  if (base.kind == Kind::integer) {
    out.op[index] = decoder_.immediate(base.bits, 8);
    return true;
  }
  if (base.kind != Kind::name) return fail("the address must be a register or a variable");
  if (const Symbol* symbol = decoder_.find_register(base.name)) {
    const uint32_t bytes = size_of(symbol->type);
    if (bytes != 4 && bytes != 8) return fail("an address register has 32 or 64 bits");
    out.access.wide_address = bytes == 8;
    out.op[index] = note_read(symbol->row, bytes);
    return true;
  }
  if (const Symbol* symbol = decoder_.find_symbol(base.name)) {
    if (symbol->kind != Symbol::Kind::variable) return fail("a label is not an address");
    out.access.space = symbol->space;
    out.op[index] = decoder_.immediate(symbol->address, 8);
    return true;
  }
  if (const auto row = decoder_.module_variable(base.name, 0)) {
    out.op[index] = *row;
    return true;
  }
  return fail(fmt::format("\"{}\" is not declared", base.name));
}

void DecodeContext::append_row(Row row) {
  if (out.list_size == 0) out.list = static_cast<uint32_t>(program().rows.size());
  program().rows.push_back(row);
  ++out.list_size;
}

bool DecodeContext::list_destinations(const ast::Operand& operand, Type type) {
  for (const ast::Operand* element : elements(operand)) {
    const Row row = destination(*element, type);
    if (row == kNoRow) return false;
    append_row(row);
  }
  return true;
}

bool DecodeContext::list_sources(const ast::Operand& operand, Type type) {
  for (const ast::Operand* element : elements(operand)) {
    const Row row = source(*element, type);
    if (row == kNoRow) return false;
    append_row(row);
  }
  return true;
}

bool DecodeContext::emit(Execute execute, Type destination_type,
                         std::initializer_list<Type> source_types) {
  if (!operand_count(1 + source_types.size(), 1 + source_types.size())) return false;
  out.op[0] = destination(operand(0), destination_type);
  if (out.op[0] == kNoRow) return false;
  size_t index = 1;
  for (Type type : source_types) {
    out.op[index] = source(operand(index), type);
    if (out.op[index] == kNoRow) return false;
    ++index;
  }
  out.execute = execute;
  return true;
}

bool DecodeContext::jump(const ast::Operand& label) {
  if (label.kind != Kind::name) return fail("a label is needed");
  return decoder_.jump_to(label.name, in.at);
}

bool DecodeContext::indirect_jump(const ast::Operand& table) {
  const auto* labels = decoder_.find_branch_table(table.name);
  if (labels == nullptr) return fail(fmt::format("there is no table \"{}\"", table.name));
  out.immediate = static_cast<int64_t>(program().branch_tables.size());
  return decoder_.table_to(*labels, in.at);
}

bool DecodeContext::call() {
  return decoder_.inline_call(in);
}
bool DecodeContext::return_from_function() {
  return decoder_.return_from_function();
}

}  // namespace gemmtune::ptxsim
