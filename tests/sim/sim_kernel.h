#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../unit/test_folder.h"
#include "codegen/emitter.h"
#include "jit/compiler.h"
#include "jit/cubin_cache.h"
#include "real_nvrtc.h"
#include "tuner/verify/sim_verifier.h"

// A kernel on the simulator, for tests of one strategy: compiled, run on its verification cases, or
// with a fault planted in its parts.

namespace gemmtune::tuner {

inline constexpr Arch kSimArch = {8, 0, false};
inline constexpr Arch kSm90a = {9, 0, true};

// A kernel that runs on several products is compiled for the first of them.
inline const jit::Compiler& compiler() {
  static const TestFolder kFolder;
  static const jit::Compiler kCompiler(jit::real_nvrtc(),
                                       std::make_shared<jit::CubinCache>(kFolder.path()));
  return kCompiler;
}

inline codegen::KernelSpec legal(codegen::KernelSpec spec, Arch arch) {
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device(arch));
  REQUIRE_MESSAGE(broken == nullptr, broken->name);
  return spec;
}

// A legal kernel.
inline codegen::KernelSpec spec_of(std::string_view strategy, std::string_view tile,
                                   const KernelTraits& traits, DataType type = DataType::f16,
                                   DataType accumulator = DataType::f32,
                                   MathMode math = MathMode::ieee, Arch arch = kSimArch) {
  return legal(
      {*codegen::find_strategy(strategy), *parse_tile(tile), traits, type, accumulator, math},
      arch);
}

inline std::string ptx_of(const codegen::KernelSource& source, Arch arch) {
  const auto compiled = compiler().compile_to_ptx({source, arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  return compiled->ptx;
}

// A legal kernel, and a product of one block tile and four k tiles for it.
struct TileProduct {
  codegen::KernelSpec spec;
  Problem problem;
};
inline TileProduct tile_product(std::string_view strategy, std::string_view tile,
                                std::string_view layout, DataType type = DataType::f16,
                                MathMode math = MathMode::ieee) {
  const TileConfig config = *parse_tile(tile);
  Problem problem =
      make_problem({config.tile_m, config.tile_n, 4 * config.tile_k}, type, *parse_layout(layout));
  problem.math = math;
  return {spec_of(strategy, tile, codegen::traits_for(problem), type, DataType::f32, math),
          problem};
}

inline SimVerifier load(codegen::KernelSpec spec, Arch arch = kSimArch) {
  spec.arch = arch;
  auto kernel = SimVerifier::load(spec, compiler());
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
  return *std::move(kernel);
}

inline Verdict verdict_of(const SimVerifier& kernel, const codegen::KernelSpec& spec,
                          const CaseSizes& sizes) {
  const auto verdict = kernel.verify(verification_cases(kind_of(spec), sizes, Effort::quick),
                                     kernel.async_modes(), {});
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  return *verdict;
}

inline Verdict verdict_of(const SimVerifier& kernel, const codegen::KernelSpec& spec) {
  return verdict_of(kernel, spec, ragged_sizes(spec.tile));
}

inline void check_quick_cases(const codegen::KernelSpec& spec, Arch arch = kSimArch) {
  CAPTURE(codegen::kernel_name(spec));
  CAPTURE(to_string(arch));
  const Verdict verdict = verdict_of(load(spec, arch), spec);
  CHECK_MESSAGE(verdict.correct(), verdict.detail);
}

// One product whose operands the kernel reads as it expects them, of a shape that its widths
// divide.
inline void check_product(const codegen::KernelSpec& spec, const Problem& problem,
                          Fill fill = Fill::random, float beta = 0.5F, Arch arch = kSimArch) {
  CAPTURE(codegen::kernel_name(spec));
  CAPTURE(key(problem));
  KernelTraits expected = spec.traits;
  expected.b_read_once = false;
  expected.fetches_c = false;
  REQUIRE(codegen::traits_for(problem) == expected);
  const SimVerifier kernel = load(spec, arch);
  for (const ptxsim::AsyncMode mode : kernel.async_modes()) {
    ptxsim::Options options;
    options.async = mode;
    const auto verdict = kernel.verify({"product", problem, 1.25F, beta, fill, 7}, options);
    REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
    CHECK_MESSAGE(verdict->correct(), verdict->detail);
  }
}

// The same bits whatever the order of blocks, warps and copies: as far as the largest error shows.
inline void check_same_in_any_order(const codegen::KernelSpec& spec, const Problem& problem,
                                    Arch arch = kSimArch) {
  CAPTURE(codegen::kernel_name(spec));
  const SimVerifier kernel = load(spec, arch);
  double error = -1;
  for (const uint64_t seed : {0, 1, 2}) {
    ptxsim::Options options;
    options.seed = seed;
    options.async = seed == 1 ? ptxsim::AsyncMode::early : ptxsim::AsyncMode::late;
    const auto verdict = kernel.verify({"again", problem, 1, 0, Fill::random, 3}, options);
    REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
    CHECK_MESSAGE(verdict->correct(), verdict->detail);
    if (error >= 0) CHECK(verdict->max_error == error);
    error = verdict->max_error;
  }
}

// None in any access to shared memory of the first `launches`.
inline void check_no_conflicts(const codegen::KernelSpec& spec, const Problem& problem,
                               Arch arch = kSimArch, size_t launches = SIZE_MAX) {
  CAPTURE(codegen::kernel_name(spec));
  const auto profiled = load(spec, arch).profile(problem, {});
  REQUIRE_MESSAGE(profiled.has_value(), profiled.error().message);
  CHECK_MESSAGE(profiled->verdict.correct(), profiled->verdict.detail);
  int counted = 0;
  for (size_t i = 0; i < std::min(launches, profiled->launches.size()); ++i) {
    for (const ptxsim::AccessCounts& access : profiled->launches[i].counts.accesses) {
      if (!access.has_wavefronts()) continue;
      CHECK(access.bank_conflicts() == 0);
      ++counted;
    }
  }
  CHECK(counted >= 8);
}

// Each kernel waits for those before it: launched to overlap, it would race with them otherwise.
inline void check_waits(codegen::KernelSpec spec, Arch arch) {
  CAPTURE(codegen::kernel_name(spec));
  REQUIRE(spec.strategy->overlaps_previous());
  spec.arch = arch;
  const auto source = codegen::emit(spec);
  const std::string ptx = ptx_of(source, arch);
  size_t entries = 0;
  for (size_t at = ptx.find(".entry"); at != std::string::npos; ++entries) {
    const size_t next = ptx.find(".entry", at + 1);
    CHECK(ptx.substr(at, next - at).find("griddepcontrol.wait") != std::string::npos);
    at = next;
  }
  CHECK(entries == source.entries.size());
}

// The main kernel spills no registers.
inline void check_spills_nothing(codegen::KernelSpec spec, Arch arch) {
  spec.arch = arch;
  CAPTURE(codegen::kernel_name(spec));
  const auto compiled = compiler().compile({codegen::emit(spec), arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  const jit::ResourceUsage& usage = compiled->entries.front().usage;
  CHECK(usage.spill_store_bytes + usage.spill_load_bytes == 0);
}

struct Mutant {
  std::string_view what;
  std::string_view with;
};

// `spec` with every occurrence of mutant.what in the kernel's parts replaced; there must be one.
inline SimVerifier load_mutant(const codegen::KernelSpec& spec, const Mutant& mutant,
                               Arch arch = kSimArch) {
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
  codegen::KernelSpec for_arch = spec;
  for_arch.arch = arch;
  auto kernel = SimVerifier::load(for_arch, source, compiler());
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
  return *std::move(kernel);
}

// Whether one product for sm_90a shows a planted fault.
inline bool is_found(const Mutant& mutant, const codegen::KernelSpec& spec, const Problem& problem,
                     float beta) {
  const auto verdict =
      load_mutant(spec, mutant, kSm90a).verify({"product", problem, 1, beta, Fill::random, 7}, {});
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  return !verdict->correct();
}

}  // namespace gemmtune::tuner
