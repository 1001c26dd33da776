// Handlers that the execution loop and the control-flow analysis know by identity.
#pragma once

#include "ptxsim/decode/program.h"

namespace gemmtune::ptxsim {

Step execute_branch(Warp& warp, const Instruction& instruction, uint32_t mask);
// Instruction::immediate is the index of its branch table.
Step execute_indirect_branch(Warp& warp, const Instruction& instruction, uint32_t mask);
Step execute_exit(Warp& warp, const Instruction& instruction, uint32_t mask);

}  // namespace gemmtune::ptxsim
