#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptxsim/decode/decode_context.h"

namespace gemmtune::ptxsim {

// Decodes one instruction: chooses Instruction::execute and resolves operands.
using DecodeFunction = bool (*)(DecodeContext& context);

// The opcodes that the simulator knows ("ld", "mma", ...). Each family of instructions registers
// its own in its own file, so that a new family touches none of the others nor the execution loop.
class InstructionSet {
 public:
  // All families of the simulator.
  static InstructionSet all();

  void add(std::string_view opcode, DecodeFunction decode, InstructionClass category);

  struct Entry {
    DecodeFunction decode = nullptr;
    InstructionClass category = InstructionClass::integer;
  };
  const Entry* find(std::string_view opcode) const;
  std::vector<std::string_view> opcodes() const;  // sorted

 private:
  std::unordered_map<std::string_view, Entry> entries_;
};

// The families. Each is defined in the file of the same name.
void add_arithmetic(InstructionSet& set);  // those that several types share
void add_integer_arithmetic(InstructionSet& set);
void add_bit_operations(InstructionSet& set);
void add_float_arithmetic(InstructionSet& set);
void add_special_functions(InstructionSet& set);
void add_comparisons(InstructionSet& set);
void add_moves(InstructionSet& set);
void add_conversions(InstructionSet& set);
void add_memory(InstructionSet& set);
void add_control(InstructionSet& set);
void add_barriers(InstructionSet& set);
void add_async_copies(InstructionSet& set);
void add_mbarriers(InstructionSet& set);
void add_warpgroup(InstructionSet& set);
void add_warp_operations(InstructionSet& set);
void add_atomics(InstructionSet& set);
void add_clusters(InstructionSet& set);
void add_matrix_moves(InstructionSet& set);
void add_matrix_multiplications(InstructionSet& set);
void add_wmma(InstructionSet& set);

}  // namespace gemmtune::ptxsim
