#pragma once

#include "ptxsim/decode/program.h"

namespace gemmtune::ptxsim {

// Sets Instruction::reconvergence of every branch to the first instruction of its immediate
// post-dominator block: the earliest point that all lanes pass whichever way they went.
void set_reconvergence_points(Program& program);

// Whether some register may be read before it was written, on some path through the program.
bool may_read_undefined(const Program& program);

}  // namespace gemmtune::ptxsim
