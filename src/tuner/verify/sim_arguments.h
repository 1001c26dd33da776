#pragma once

#include "codegen/launch_plan.h"
#include "core/error.h"
#include "core/problem.h"
#include "launch/arguments.h"
#include "ptxsim/machine/simulator.h"

namespace gemmtune::tuner {

// What a launch of a product takes on the simulator, one by one. `problem` is canonical, `operands`
// have addresses of simulated memory. Errors are launch::pack_arguments()'s.
Expected<ptxsim::Arguments> simulated_arguments(const codegen::KernelLaunch& launch,
                                                const Problem& problem, bool device_scalars,
                                                const launch::Operands& operands);

}  // namespace gemmtune::tuner
