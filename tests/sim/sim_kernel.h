#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "codegen/emitter.h"
#include "jit/compiler.h"
#include "real_nvrtc.h"
#include "tuner/sim_verifier.h"

// A kernel on the simulator, for tests of one strategy: compiled, run on its verification cases, or
// with a fault planted in its parts.

namespace gemmtune::tuner {

inline constexpr Arch kSimArch = {8, 0, false};

inline const jit::Compiler& compiler() {
  static const jit::Compiler kCompiler(jit::real_nvrtc());
  return kCompiler;
}

// A legal kernel.
inline codegen::KernelSpec spec_of(std::string_view strategy, std::string_view tile,
                                   const KernelTraits& traits, DataType type = DataType::f16,
                                   DataType accumulator = DataType::f32,
                                   MathMode math = MathMode::ieee, Arch arch = kSimArch) {
  codegen::KernelSpec spec{
      *codegen::find_strategy(strategy), *parse_tile(tile), traits, type, accumulator, math};
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device(arch));
  REQUIRE_MESSAGE(broken == nullptr, broken->name);
  return spec;
}

inline SimVerifier load(const codegen::KernelSpec& spec, Arch arch = kSimArch) {
  auto kernel = SimVerifier::load(spec, arch, compiler());
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
  return *std::move(kernel);
}

inline Verdict verdict_of(const SimVerifier& kernel, const codegen::KernelSpec& spec) {
  const auto verdict =
      kernel.verify(verification_cases(kind_of(spec), ragged_sizes(spec.tile), Effort::quick),
                    kernel.async_modes(), {});
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  return *verdict;
}

inline void check_quick_cases(const codegen::KernelSpec& spec, Arch arch = kSimArch) {
  CAPTURE(codegen::kernel_name(spec));
  CAPTURE(to_string(arch));
  const Verdict verdict = verdict_of(load(spec, arch), spec);
  CHECK_MESSAGE(verdict.correct(), verdict.detail);
}

struct Mutant {
  std::string_view what;
  std::string_view with;
};

// `spec` with every occurrence of mutant.what in the kernel's parts replaced; there must be one.
inline SimVerifier load_mutant(const codegen::KernelSpec& spec, const Mutant& mutant) {
  codegen::KernelSource source = codegen::emit(spec);
  int found = 0;
  for (codegen::SourceHeader& header : source.headers) {
    for (size_t at = 0; (at = header.text.find(mutant.what, at)) != std::string::npos;
         at += mutant.with.size()) {
      header.text.replace(at, mutant.what.size(), mutant.with);
      ++found;
    }
  }
  REQUIRE(found > 0);
  auto kernel = SimVerifier::load(spec, source, kSimArch, compiler());
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
  return *std::move(kernel);
}

}  // namespace gemmtune::tuner
