#pragma once

#include <functional>

#include "app/compile/compile_messages.h"
#include "core/descriptor.h"
#include "core/error.h"
#include "jit/compile.h"

namespace gemmtune::app {

// What a process does that was started to compile for a command (compiler_processes.h): makes what
// compiles, by `load`, and compiles what it is asked for, until the command closes the channel.
void serve_compiling(
    const Descriptor& channel,
    const std::function<Expected<jit::CompileFunction>(const CompilerSetup&)>& load);

// What compiles with the NVRTC that the command names. ErrorKind::io where that is not the one that
// is found at its path.
Expected<jit::CompileFunction> load_compile_function(const CompilerSetup& setup);

}  // namespace gemmtune::app
