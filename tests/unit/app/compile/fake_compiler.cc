// A process that compiles nothing, in place of one with an NVRTC. What it does depends on the text
// of a source, and on the library that it is to load; see compiler_processes_test.cc.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "app/compile/compile_server.h"

namespace gemmtune::app {
namespace {

// A kernel whose one warning is the number of the process.
jit::CompileResult compile(const jit::CompileRequest& request) {
  const std::string& text = request.source.text;
  if (text.starts_with("signal ")) ::raise(std::stoi(text.substr(7)));
  if (text.starts_with("once ") && ::unlink(request.source.name.c_str()) == 0)
    ::raise(std::stoi(text.substr(5)));
  if (text == "end") std::_Exit(3);
  if (text == "fail") {
    return tl::unexpected(
        jit::CompileFailure{jit::CompilePhase::front_end, "no good", "no good\nat all"});
  }
  jit::CompiledKernel kernel;
  kernel.name = request.source.name;
  kernel.cubin.resize(1);
  kernel.warnings = {std::to_string(::getpid())};
  return kernel;
}

Expected<jit::CompileFunction> load(const CompilerSetup& setup) {
  if (setup.library == "missing") return make_error(ErrorKind::io, "missing: no such file");
  if (setup.library == "broken") std::_Exit(5);
  return compile;
}

}  // namespace
}  // namespace gemmtune::app

int main() {
  gemmtune::app::serve_compiling(gemmtune::Descriptor(STDIN_FILENO), gemmtune::app::load);
}
