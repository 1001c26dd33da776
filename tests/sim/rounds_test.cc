#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "codegen/emitter.h"
#include "codegen/search_space.h"
#include "jit/compiler.h"
#include "real_nvrtc.h"
#include "tuner/sim_verifier.h"

// A long k in rounds (parts/rounds.cuh): right for every way of storing C, and more accurate.

namespace gemmtune::tuner {
namespace {

constexpr Arch kArch = {8, 0, false};
constexpr int64_t kOneRound = 2048;  // as in rounds.cuh

const jit::Compiler& compiler() {
  static const jit::Compiler kCompiler(jit::real_nvrtc());
  return kCompiler;
}

struct Kernel {
  const char* strategy;
  const char* tile;
};
constexpr Kernel kKernels[] = {
    {"double_buffer",
     "tile_m=32 tile_n=32 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 order=1 fragments=1"},
    {"multistage",
     "tile_m=32 tile_n=32 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 order=1 "
     "fragments=2"},
    {"multistage",
     "tile_m=32 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 order=1 "
     "fragments=2 ahead=2"},
    {"sliced_k",
     "tile_m=32 tile_n=32 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 order=1 "
     "fragments=2 slices=1 ahead=1 groups=2"},
    {"sliced_k",
     "tile_m=32 tile_n=32 tile_k=16 warp_m=16 warp_n=32 thread_m=4 thread_n=4 stages=3 order=1 "
     "fragments=2 slices=1 groups=3"},
};

codegen::KernelSpec spec_for(const Kernel& kernel, const Problem& problem) {
  const auto spec = codegen::spec_for(**codegen::find_strategy(kernel.strategy),
                                      *parse_tile(kernel.tile), problem);
  const codegen::Rule* broken = codegen::broken_rule(spec, representative_device(kArch));
  REQUIRE_MESSAGE(broken == nullptr, broken->name);
  return spec;
}

Verdict verdict(const SimVerifier& kernel, const VerificationCase& test, ptxsim::AsyncMode mode) {
  ptxsim::Options options;
  options.async = mode;
  const auto verdict = kernel.verify(test, options);
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  return *verdict;
}

SimVerifier load(const codegen::KernelSpec& spec, const codegen::KernelSource& source) {
  auto kernel = SimVerifier::load(spec, source, kArch, compiler());
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
  return *std::move(kernel);
}

TEST_CASE("rounds add up, whatever beta is and however C is aligned") {
  for (const Kernel& kernel : kKernels) {
    CAPTURE(kernel.strategy);
    CAPTURE(kernel.tile);
    for (const int64_t columns : {64, 61}) {  // 61: word by word, through shared memory
      for (const int64_t k : {kOneRound + 1, int64_t{3100}}) {
        const Problem problem = make_problem({45, columns, k});
        const SimVerifier loaded =
            load(spec_for(kernel, problem), codegen::emit(spec_for(kernel, problem)));
        for (const float beta : {0.0F, 1.0F, -0.5F}) {
          CAPTURE(k);
          CAPTURE(beta);
          for (const ptxsim::AsyncMode mode : loaded.async_modes()) {
            const Verdict integers =
                verdict(loaded, {"integers", problem, 2, beta, Fill::small_integers, 1}, mode);
            CHECK_MESSAGE(integers.correct(), integers.detail);
          }
        }
        const Verdict special =
            verdict(loaded, {"special", problem, 1, 0.5F, Fill::special, 2}, {});
        CHECK_MESSAGE(special.correct(), special.detail);
      }
    }
  }
}

TEST_CASE("a long k has less error in rounds") {
  const Problem problem = make_problem({32, 64, 8192});
  const VerificationCase test{"random", problem, 1, 0, Fill::random, 3};
  const auto error = [&](const Kernel& kernel) {
    const auto spec = spec_for(kernel, problem);
    return verdict(load(spec, codegen::emit(spec)), test, {}).max_error;
  };
  const double one_sum = error({"naive", "tile_m=8 tile_n=32"});
  for (const Kernel& kernel : kKernels) {
    CAPTURE(kernel.strategy);
    CHECK(error(kernel) < one_sum / 1.5);
  }
}

TEST_CASE("planted faults are found") {
  struct Mutant {
    std::string what;
    std::string with;
  };
  const Mutant mutants[] = {
      {"if (k_begin > 0) round.beta = 1.0f;", ""},
      {"k_begin = k_end;", "k_begin = k_end + 8;"},
      {"k_begin = k_end;\n    __syncthreads();", "k_begin = k_end;"},
      {"if (k_end == k) return;", "return;"},
  };
  const Problem problem = make_problem({45, 64, 2100});
  const auto spec = spec_for(kKernels[1], problem);
  for (const Mutant& mutant : mutants) {
    CAPTURE(mutant.what);
    codegen::KernelSource source = codegen::emit(spec);
    int found = 0;
    for (codegen::SourceHeader& header : source.headers) {
      const size_t at = header.text.find(mutant.what);
      if (at == std::string::npos) continue;
      header.text.replace(at, mutant.what.size(), mutant.with);
      ++found;
    }
    REQUIRE(found == 1);
    const SimVerifier loaded = load(spec, source);
    const VerificationCase test{"integers", problem, 1, 0.5F, Fill::small_integers, 1};
    CHECK_FALSE(verdict(loaded, test, {}).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
