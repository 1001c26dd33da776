#include "app/common/context.h"

#include <spdlog/logger.h>

#include <functional>
#include <utility>

namespace gemmtune::app {
namespace {

// Makes what compiles as an NVRTC does; empty: that does itself.
using MakeCompile = std::function<jit::CompileFunction(const jit::Nvrtc& nvrtc)>;

Expected<std::shared_ptr<const jit::Compiler>> load(const Context& context,
                                                    const MakeCompile& make_compile) {
  auto nvrtc = jit::Nvrtc::load(jit::nvrtc_candidates(nvrtc_locations(context.environment)));
  // Whatever the reason, this machine lacks what the command needs.
  if (!nvrtc) return make_error(ErrorKind::unsupported, nvrtc.error().message);
  std::shared_ptr<jit::CubinCache> cache;
  if (const auto folder = cache_directory(context.environment, context.places)) {
    cache = std::make_shared<jit::CubinCache>(
        *folder, [log = context.log](const std::string& text) { log->warn(text); });
  }
  context.log->debug("NVRTC {} at {}", to_string(nvrtc->version()), nvrtc->path().string());
  auto compile = make_compile(*nvrtc);
  return std::make_shared<const jit::Compiler>(std::move(*nvrtc), std::move(cache),
                                               std::move(compile));
}

jit::CompileFunction in_processes(const Context& context, const jit::Nvrtc& nvrtc) {
  if (context.compiler_program.path.empty()) return {};
  auto processes = std::make_shared<CompilerProcesses>(
      context.compiler_program, CompilerSetup{nvrtc.path().string(), nvrtc.library_bytes()});
  return [processes, nvrtc, log = context.log](const jit::CompileRequest& request) {
    if (auto result = processes->compile(request)) return *std::move(result);
    log->debug("compiles in this process: {}", processes->why_not());
    return jit::compile(nvrtc, request);
  };
}

}  // namespace

Expected<std::shared_ptr<const jit::Compiler>> load_compiler(const Context& context) {
  return load(context, [](const jit::Nvrtc&) { return jit::CompileFunction(); });
}

Expected<std::shared_ptr<const jit::Compiler>> load_parallel_compiler(const Context& context) {
  return load(context, [&](const jit::Nvrtc& nvrtc) { return in_processes(context, nvrtc); });
}

void prune_cache(const Context& context, const jit::Compiler& compiler) {
  if (compiler.cache() == nullptr) return;
  const auto pruned = compiler.cache()->prune();
  if (!pruned) {
    context.log->warn("kernel cache: {}", pruned.error().message);
  } else if (pruned->files_removed > 0) {
    context.log->info("kernel cache: removed {} files, {} MiB", pruned->files_removed,
                      pruned->bytes_removed >> 20);
  }
}

}  // namespace gemmtune::app
