// What an instruction family sees while it decodes one instruction.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ptxsim/decode/decoder.h"

namespace gemmtune::ptxsim {

// Functions that return bool or Row return false or kNoRow after an error, which is then recorded
// with the instruction's line and column: just return false.
class DecodeContext {
 public:
  DecodeContext(Decoder& decoder, const ast::Instruction& in, Instruction& out)
      : in(in), out(out), decoder_(decoder) {}

  const ast::Instruction& in;
  Instruction& out;

  bool fail(const std::string& message);
  // The instruction (with this combination of modifiers) is not known to the simulator.
  bool unknown(const std::string& why = "");

  // --- modifiers ---
  bool has(std::string_view modifier) const { return in.has(modifier); }
  // True when every modifier is a type or one of `allowed`.
  bool only(std::initializer_list<std::string_view> allowed);
  // The types among the modifiers, in order.
  std::vector<Type> types() const;
  // The last type among the modifiers; Type::none when there is none.
  Type type() const;

  // --- operands ---
  bool operand_count(size_t least, size_t most);
  size_t operand_count() const { return in.operands.size(); }
  const ast::Operand& operand(size_t index) const { return in.operands[index]; }
  // The row to write: a register of exactly type's width ("_" is accepted).
  Row destination(const ast::Operand& operand, Type type);
  // The row to read: a register of exactly type's width, an immediate (rounded to type), a special
  // register, or a variable's address.
  Row source(const ast::Operand& operand, Type type);
  // As above, but a register may be wider than the type (loads, stores, conversions).
  // `width` receives its bytes.
  Row loose_destination(const ast::Operand& operand, Type type, uint32_t& width);
  Row loose_source(const ast::Operand& operand, Type type, uint32_t& width);
  Row predicate_destination(const ast::Operand& operand);
  // A predicate register; `negated` receives whether it was written "!p".
  Row predicate_source(const ast::Operand& operand, bool& negated);
  // An operand that must be an integer literal.
  bool constant(const ast::Operand& operand, int64_t& out);
  // The elements of {..}, or the operand itself as a list of one.
  static std::vector<const ast::Operand*> elements(const ast::Operand& operand);
  // Sets op[index] and `immediate` from [base + offset], and access.wide_address.
  bool address(const ast::Operand& operand, size_t index);
  // Resolves {..} into Program::rows; sets list and list_size when they are still empty,
  // otherwise appends.
  bool list_destinations(const ast::Operand& operand, Type type);
  bool list_sources(const ast::Operand& operand, Type type);
  void append_row(Row row);

  // The instruction reads this row of 32-bit registers too, beside what its operands say.
  void also_reads(Row row) { note_read(row, 4); }
  // Its only source, of 64 bits, counts with its low word alone.
  void reads_low_word_only() {
    if (program().reads.size() == out.first_read + 2) program().reads.pop_back();
  }
  // It only moves words: each of `to` is defined where that of `from` in the same place is. Takes
  // the place of what was noted of its operands.
  void passes_words(const std::vector<Row>& from, const std::vector<Row>& to);

  // Resolves operand 0 as a destination and the others as sources into op[0..], and sets execute.
  bool emit(Execute execute, Type destination_type, std::initializer_list<Type> source_types);
  // Executes with `execute`; operands were resolved already.
  bool emit(Execute execute) {
    out.execute = execute;
    return true;
  }

  // --- control ---
  bool jump(const ast::Operand& label);
  bool indirect_jump(const ast::Operand& table);
  bool call();
  bool return_from_function();
  Decoder& decoder() { return decoder_; }
  Program& program() { return decoder_.program(); }

 private:
  Row source_any(const ast::Operand& operand, Type type, bool exact, uint32_t& width);
  // Of a register of so many bytes; return it.
  Row note_read(Row row, uint32_t bytes);
  Row note_write(Row row, uint32_t bytes);
  uint64_t immediate_bits(const ast::Operand& operand, Type type) const;

  Decoder& decoder_;
};

}  // namespace gemmtune::ptxsim
