#include "dispatch/kernel_images.h"

#include <utility>

#include "codegen/emitter.h"

namespace gemmtune::dispatch {

KernelImages::KernelImages(Sources sources) : sources_(std::move(sources)) {
  if (!sources_.may_compile) why_no_compiler_ = "compiling was forbidden";
}

Expected<std::shared_ptr<const jit::Compiler>> KernelImages::compiler() {
  const std::lock_guard lock(*mutex_);
  if (!compiler_ && why_no_compiler_.empty()) {
    auto nvrtc = jit::Nvrtc::load(sources_.nvrtc_candidates);
    if (nvrtc) {
      compiler_ = std::make_shared<const jit::Compiler>(std::move(*nvrtc), sources_.cache);
    } else {
      why_no_compiler_ = nvrtc.error().message;
    }
  }
  if (compiler_) return compiler_;
  return make_error(ErrorKind::unsupported, why_no_compiler_);
}

Expected<std::vector<std::byte>> KernelImages::find(const codegen::KernelSpec& spec) {
  jit::CompileRequest request{codegen::emit(spec), spec.arch, {}};
  std::string why;
  if (sources_.pack) {
    auto packed = sources_.pack->image(request.source, spec.arch);
    if (packed) return packed;
    why = packed.error().message + "; ";
  }
  const auto compiler = this->compiler();
  if (compiler) {
    auto compiled = (*compiler)->compile(request);
    if (compiled) return std::move(compiled->cubin);
    return make_error(ErrorKind::failed, why + "does not compile: " + compiled.error().first_error);
  }
  if (sources_.cache) {
    if (auto cached = sources_.cache->load_any(request)) return std::move(cached->cubin);
    why += "not in the kernel cache; ";
  }
  return make_error(ErrorKind::unsupported, why + compiler.error().message);
}

}  // namespace gemmtune::dispatch
