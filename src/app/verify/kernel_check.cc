#include "app/verify/kernel_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/emitter.h"
#include "core/names.h"

namespace gemmtune::app {

std::string_view outcome_of(const VerifiedKernel& kernel) {
  if (!kernel.failure.empty()) return "failed";
  switch (kernel.verdict.kind) {
    case tuner::VerdictKind::correct:
      return "correct";
    case tuner::VerdictKind::wrong_result:
      return "wrong_result";
    case tuner::VerdictKind::out_of_bounds:
      return "out_of_bounds";
    case tuner::VerdictKind::unwritten:
      return "unwritten";
  }
  return "";
}

const std::string& detail_of(const VerifiedKernel& kernel) {
  return kernel.failure.empty() ? kernel.verdict.detail : kernel.failure;
}

Expected<void> check_backend(std::string_view name) {
  constexpr std::array<std::string_view, 2> kBackends = {"gpu", "sim"};
  if (std::find(kBackends.begin(), kBackends.end(), name) != kBackends.end()) return {};
  return usage_error(unknown_name_message("backend", name, kBackends));
}

Expected<std::shared_ptr<gpu::Context>> retain_device(const Machine& machine,
                                                      const Target& target) {
  if (!target.device) {
    return make_error(ErrorKind::unsupported,
                      "no GPU here runs " + to_string(target.arch) + "; --backend sim needs none");
  }
  auto context = gpu::Context::retain(machine.driver, target.device->ordinal);
  if (!context) return tl::unexpected(context.error());
  return *std::move(context);
}

Expected<VerifiedKernel> check_on_gpu(
    const std::shared_ptr<const gpu::Context>& context, const jit::Compiler& compiler,
    const codegen::KernelSpec& spec,
    const std::function<gpu::Result<tuner::Verdict>(const launch::LoadedKernel&)>& verify) {
  VerifiedKernel result{to_string(spec.tile), "", {}, {}};
  auto compiled = compiler.compile({codegen::emit(spec), spec.arch, {}});
  if (!compiled) {
    result.failure = "does not compile: " + compiled.error().first_error;
    return result;
  }
  auto kernel = launch::LoadedKernel::load(context, spec, compiled->cubin);
  if (!kernel) {
    result.failure = kernel.error().message;
    return result;
  }
  auto verdict = verify(*kernel);
  if (verdict) {
    result.verdict = *verdict;
  } else if (verdict.error().context_lost()) {
    return make_error(ErrorKind::failed,
                      fmt::format("{} crashed: {}", result.config, verdict.error().message));
  } else {
    result.failure = verdict.error().message;
  }
  return result;
}

VerifiedKernel check_on_sim(
    const jit::Compiler& compiler, const codegen::KernelSpec& spec,
    const std::function<Expected<void>(const tuner::SimVerifier&, VerifiedKernel&)>& simulate) {
  VerifiedKernel result{to_string(spec.tile), "", {}, {}};
  const auto verifier = tuner::SimVerifier::load(spec, compiler);
  if (!verifier) {
    result.failure = verifier.error().message;
  } else if (auto done = simulate(*verifier, result); !done) {
    result.failure = done.error().message;
  }
  return result;
}

}  // namespace gemmtune::app
