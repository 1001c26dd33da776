#pragma once

#include <spdlog/fwd.h>

#include <memory>

#include "app/common/environment.h"
#include "app/common/next_step.h"
#include "app/compile/compiler_processes.h"
#include "jit/compiler.h"

namespace gemmtune::app {

// What every function of this library gets beside its request.
struct Context {
  Environment environment;
  Places places;
  std::shared_ptr<spdlog::logger> log;
  CompilerProgram compiler_program;  // by which commands that compile much do so in processes
  WordStep word_step;  // how the front end says what to do next; empty: messages do not say it
};

// NVRTC behind the cache; ErrorKind::unsupported if there is none. A cache that cannot be written
// is one warning in the log.
Expected<std::shared_ptr<const jit::Compiler>> load_compiler(const Context& context);

// The same for what compiles many kernels at once: in processes, where context.compiler_program can
// be started, else in its threads.
Expected<std::shared_ptr<const jit::Compiler>> load_parallel_compiler(const Context& context);

// Keeps the folder of compiled kernels within jit::kDefaultCacheBytes: the least recently used go.
// For the end of a command that compiles many; a failure is a warning in the log.
void prune_cache(const Context& context, const jit::Compiler& compiler);

}  // namespace gemmtune::app
