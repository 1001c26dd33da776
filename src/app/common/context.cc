#include "app/common/context.h"

#include <spdlog/logger.h>

namespace gemmtune::app {

Expected<std::shared_ptr<const jit::Compiler>> load_compiler(const Context& context) {
  auto nvrtc = jit::Nvrtc::load(jit::nvrtc_candidates(nvrtc_locations(context.environment)));
  // Whatever the reason, this machine lacks what the command needs.
  if (!nvrtc) return make_error(ErrorKind::unsupported, nvrtc.error().message);
  std::shared_ptr<jit::CubinCache> cache;
  if (const auto folder = cache_directory(context.environment, context.places)) {
    cache = std::make_shared<jit::CubinCache>(
        *folder, [log = context.log](const std::string& text) { log->warn(text); });
  }
  context.log->debug("NVRTC {} at {}", to_string(nvrtc->version()), nvrtc->path().string());
  return std::make_shared<const jit::Compiler>(std::move(*nvrtc), std::move(cache));
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
