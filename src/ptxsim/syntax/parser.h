#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "ptxsim/syntax/ast.h"

namespace gemmtune::ptxsim {

// Parses the PTX that nvcc and NVRTC emit (.address_size 64). `name` is what messages call the
// module. Any text is accepted without crashing; what is not PTX fails with ErrorKind::usage and
// "name:line:column: what was expected". Instructions are parsed by shape only: whether the
// simulator knows them is decided by decode().
Expected<Module> parse(std::string_view text, std::string name);

}  // namespace gemmtune::ptxsim
