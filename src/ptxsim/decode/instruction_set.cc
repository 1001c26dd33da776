#include "ptxsim/decode/instruction_set.h"

#include <algorithm>

namespace gemmtune::ptxsim {

InstructionSet InstructionSet::all() {
  InstructionSet set;
  add_arithmetic(set);
  add_integer_arithmetic(set);
  add_bit_operations(set);
  add_float_arithmetic(set);
  add_special_functions(set);
  add_comparisons(set);
  add_moves(set);
  add_conversions(set);
  add_memory(set);
  add_control(set);
  add_barriers(set);
  add_async_copies(set);
  add_mbarriers(set);
  add_warpgroup(set);
  add_warp_operations(set);
  add_atomics(set);
  add_clusters(set);
  add_matrix_moves(set);
  add_matrix_multiplications(set);
  add_wmma(set);
  return set;
}

void InstructionSet::add(std::string_view opcode, DecodeFunction decode,
                         InstructionClass category) {
  entries_[opcode] = Entry{decode, category};
}

const InstructionSet::Entry* InstructionSet::find(std::string_view opcode) const {
  const auto found = entries_.find(opcode);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> InstructionSet::opcodes() const {
  std::vector<std::string_view> out;
  for (const auto& [opcode, entry] : entries_) out.push_back(opcode);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace gemmtune::ptxsim
