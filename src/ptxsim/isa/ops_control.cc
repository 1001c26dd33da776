// bra, brx, call, ret, exit, trap and what has no effect here. Source: PTX ISA, "Control Flow",
// "Miscellaneous Instructions".
#include <bit>

#include "ptxsim/decode/handlers.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

Step execute_branch(Warp& /*warp*/, const Instruction& /*in*/, uint32_t /*mask*/) {
  return Step::branch;
}

Step execute_exit(Warp& /*warp*/, const Instruction& /*in*/, uint32_t /*mask*/) {
  return Step::exit;
}

Step execute_indirect_branch(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* index = warp.row<uint32_t>(in.op[0]);
  const size_t size = warp.program().branch_tables[static_cast<size_t>(in.immediate)].size();
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    if (index[lane] < size) continue;
    warp.report(Check::branch_index, in, lane, 0, [] { return "a branch index beyond its table"; });
    return Step::fault;
  }
  return Step::indirect;
}

namespace {

Step execute_trap(Warp& warp, const Instruction& in, uint32_t mask) {
  warp.report(Check::trap, in, static_cast<uint32_t>(std::countr_zero(mask)), 0,
              [] { return "the kernel stopped itself"; });
  return Step::fault;
}

bool decode_bra(DecodeContext& c) {
  return c.only({"uni"}) && c.operand_count(1, 1) && c.jump(c.operand(0)) && c.emit(execute_branch);
}

bool decode_brx(DecodeContext& c) {
  if (!c.only({"idx", "uni"}) || !c.operand_count(2, 2)) return false;
  c.out.op[0] = c.source(c.operand(0), Type::u32);
  return c.out.op[0] != kNoRow && c.indirect_jump(c.operand(1)) && c.emit(execute_indirect_branch);
}

bool decode_call(DecodeContext& c) {
  if (!c.only({"uni"})) return false;
  if (!c.in.guard.empty()) return c.unknown("with a guard");
  return c.call();
}

bool decode_ret(DecodeContext& c) {
  if (!c.only({"uni"}) || !c.operand_count(0, 0)) return false;
  return c.emit(c.return_from_function() ? execute_branch : execute_exit);
}

bool decode_exit(DecodeContext& c) {
  return c.operand_count(0, 0) && c.emit(execute_exit);
}
bool decode_trap(DecodeContext& c) {
  return c.operand_count(0, 0) && c.emit(execute_trap);
}

// nanosleep, pmevent, griddepcontrol: time and other grids are not simulated.
bool decode_no_effect(DecodeContext& /*c*/) {
  return true;
}

}  // namespace

void add_control(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::control;
  set.add("bra", decode_bra, kClass);
  set.add("brx", decode_brx, kClass);
  set.add("call", decode_call, kClass);
  set.add("ret", decode_ret, kClass);
  set.add("exit", decode_exit, kClass);
  set.add("trap", decode_trap, kClass);
  set.add("brkpt", decode_trap, kClass);
  set.add("nanosleep", decode_no_effect, kClass);
  set.add("pmevent", decode_no_effect, kClass);
  set.add("griddepcontrol", decode_no_effect, kClass);
}

}  // namespace gemmtune::ptxsim
