#pragma once

#include "app/common/context.h"
#include "app/common/target.h"
#include "core/error.h"
#include "tuner/session/setup.h"

namespace gemmtune::app {

// What searches for `target` share. What is missing but for the compiler is a warning in the log.
// ErrorKind::unsupported without a compiler, and with `compiles` where it does not serve the arch.
Expected<tuner::Equipment> load_equipment(const Context& context, const Machine& machine,
                                          const Target& target, bool compiles = true);

}  // namespace gemmtune::app
