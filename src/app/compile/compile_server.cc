#include "app/compile/compile_server.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "jit/nvrtc.h"

namespace gemmtune::app {

void serve_compiling(
    const Descriptor& channel,
    const std::function<Expected<jit::CompileFunction>(const CompilerSetup&)>& load) {
  const int socket = channel.get();
  const auto first = receive_frame(socket);
  const auto setup = first ? decode_setup(*first) : std::nullopt;
  if (!setup) return;
  const auto compile = load(*setup);
  if (!send_frame(socket, encode_answer(compile ? "" : compile.error().message)) || !compile)
    return;
  while (const auto bytes = receive_frame(socket)) {
    const auto request = decode_request(*bytes);
    if (!request || !send_frame(socket, encode((*compile)(*request)))) return;
  }
}

Expected<jit::CompileFunction> load_compile_function(const CompilerSetup& setup) {
  const std::array candidates = {setup.library};
  auto nvrtc = jit::Nvrtc::load(candidates);
  if (!nvrtc) return tl::unexpected(nvrtc.error());
  if (nvrtc->library_bytes() != setup.library_bytes)
    return make_error(ErrorKind::io, setup.library + " has changed");
  return [nvrtc = *std::move(nvrtc)](const jit::CompileRequest& request) {
    return jit::compile(nvrtc, request);
  };
}

}  // namespace gemmtune::app
