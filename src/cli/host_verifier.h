#pragma once

#include <memory>

#include "core/error.h"
#include "jit/compiler.h"
#include "tuner/model_evaluator.h"

namespace gemmtune::cli {

// What checks kernels on the CPU: the PTX simulator. ErrorKind::unsupported while this build has
// none; predicted winners are then stored without a check.
Expected<tuner::HostVerifier> make_host_verifier(std::shared_ptr<const jit::Compiler> compiler,
                                                 Arch arch);

}  // namespace gemmtune::cli
