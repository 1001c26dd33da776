#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/compile/compile_messages.h"
#include "core/error.h"
#include "jit/compile.h"

namespace gemmtune::app {

// A program that calls serve_compiling() with its stdin (compile_server.h).
struct CompilerProgram {
  std::string path;                    // empty: there is none
  std::vector<std::string> arguments;  // its name first
};

// Processes that compile, as many as are asked for at once. Threads of one process wait for each
// other within NVRTC: on 16 cores 16 of them compile 17 kernels per second, processes 20
// (docs/performance.md, "Search"). They have a low priority, so that they do not keep the command
// that measures from the processor, and end with the object. Thread-safe.
class CompilerProcesses {
 public:
  CompilerProcesses(CompilerProgram program, CompilerSetup setup);
  ~CompilerProcesses();
  CompilerProcesses(const CompilerProcesses&) = delete;
  CompilerProcesses& operator=(const CompilerProcesses&) = delete;

  // Compiles in a process that is free, or in a new one. Where two processes crash over it, or one
  // is killed (CompilePhase::process), the failure says how the last one ended. Nothing if none is
  // free and none can be started, which is not tried again; why_not() says why.
  std::optional<jit::CompileResult> compile(const jit::CompileRequest& request);

  std::string why_not() const;

 private:
  class Process;

  std::unique_ptr<Process> take();
  void give_back(std::unique_ptr<Process> process);

  const CompilerProgram program_;
  const CompilerSetup setup_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Process>> free_;
  std::optional<Error> why_not_;
};

}  // namespace gemmtune::app
