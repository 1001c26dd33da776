#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "codegen/pair_cover.h"
#include "codegen/search_space.h"
#include "core/parallel.h"
#include "sim_kernel.h"

// Every strategy on the PTX simulator: legal tiles that hold every pair of parameter values, with
// random layouts, alignments and archs, over ragged and tiny shapes, alpha and beta, padding and
// batches. Tiles that take the simulator long are left out. A failure names kernel, arch and case;
// the seed is fixed, so it comes again.
//
//   GEMMTUNE_SIM_KERNELS   kernels per strategy at most, those that add most pairs: 16 hold nine in
//                          ten of them or more, 50 hold all (default 64)
//   GEMMTUNE_SIM_SEED      another sample

namespace gemmtune::tuner {
namespace {

constexpr size_t kMostKernels = 64;
constexpr int kDraws = 3'000'000;  // of a strategy's points
constexpr size_t kSamples = 6000;  // legal ones of them that are enough
constexpr size_t kExtraCases = 2;  // of the thorough ones, a kernel; the quick ones all run
constexpr int kLeastCases = 3000;  // over all strategies

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// Widths of up to 16 bytes.
KernelTraits random_traits(const Problem& kind, std::mt19937_64& random) {
  const auto width = [&](DataType type) {
    const unsigned widths = size_bytes(type) == 4 ? 3 : size_bytes(type) == 2 ? 4 : 5;
    return 1 << (random() % widths);
  };
  const int vector_a = width(kind.type);
  const int vector_b = width(kind.type);
  return {kind.layout.a == Order::row_major, kind.layout.b == Order::row_major, vector_a, vector_b,
          width(usual_result(kind.type))};
}

Order random_order(std::mt19937_64& random) {
  return random() % 2 == 0 ? Order::row_major : Order::column_major;
}

// Any types and layouts that the strategy computes on the arch; nothing where it computes none
// there.
std::optional<Problem> random_kind(const codegen::Strategy& strategy, Arch arch,
                                   std::mt19937_64& random) {
  const Layout layout = {random_order(random), random_order(random)};
  const Problem plain = make_problem({64, 64, 64}, DataType::f32, layout);
  if (strategy.supports(plain, arch)) return plain;
  Problem problem = make_problem({64, 64, 64}, DataType::f16, layout);
  switch (random() % 11) {
    case 10:
      problem = make_problem({64, 64, 64}, DataType::i8, *parse_layout("tnt"));
      break;
    case 9:
      problem = make_problem({64, 64, 64}, DataType::e4m3, *parse_layout("tnt"));
      break;
    case 8:
      problem = make_problem({64, 64, 64}, DataType::e5m2, *parse_layout("tnt"));
      problem.math = MathMode::fast_accum;
      break;
    case 7:
      problem.type = DataType::f32;
      problem.math = MathMode::bf16x9;
      break;
    case 6:
      problem.type = DataType::f32;
      problem.math = MathMode::bf16x6;
      break;
    case 5:
      problem.type = DataType::f32;
      problem.math = MathMode::f16;
      break;
    case 4:
      problem.type = DataType::f32;
      problem.math = MathMode::tf32;
      break;
    case 3:
      problem.type = DataType::f32;
      problem.math = MathMode::tf32x3;
      break;
    case 0:
      problem.type = DataType::bf16;
      break;
    case 1:
      problem.accumulator = DataType::f16;
      break;
    default:
      break;
  }
  if (!strategy.supports(problem, arch)) return std::nullopt;
  return problem;
}

struct Sample {
  codegen::KernelSpec spec;
  Arch arch;
};

// Multiplications of a kernel's largest case: with more, a case would take seconds.
constexpr int64_t kMostProducts = 700'000;

bool is_small(const TileConfig& tile) {
  const CaseSizes sizes = ragged_sizes(tile);
  return sizes.m * sizes.n * sizes.k <= kMostProducts;
}

std::vector<Arch> compiled_archs() {
  std::vector<Arch> archs;
  for (const Arch arch : known_archs()) {
    if (compiler().nvrtc().check_arch(arch)) archs.push_back(arch);
  }
  return archs;
}

// Legal kernels of `strategy`, drawn at random, each for an arch that it serves.
std::vector<Sample> random_kernels(const codegen::Strategy& strategy,
                                   const codegen::SearchSpace& space, std::mt19937_64& random) {
  const auto archs = compiled_archs();
  REQUIRE(!archs.empty());
  std::vector<Sample> samples;
  for (int draw = 0; draw < kDraws && samples.size() < kSamples; ++draw) {
    const Arch arch = archs[random() % archs.size()];
    const auto index = static_cast<int64_t>(random() % static_cast<uint64_t>(space.size()));
    const TileConfig tile = space.at(index);
    if (!is_small(tile)) continue;
    const auto kind = random_kind(strategy, arch, random);
    if (!kind) continue;
    codegen::KernelSpec spec{&strategy,         tile,      random_traits(*kind, random), kind->type,
                             kind->accumulator, kind->math};
    spec.arch = strategy.code_arch(arch);
    spec.device_scalars = random() % 4 == 0;
    const bool is_integer = kind->type == DataType::i8;
    if (!is_integer && random() % 2 == 0) {
      spec.traits.epilogue = {static_cast<Bias>(random() % 3),
                              static_cast<Activation>(random() % 5)};
    }
    if (is_fp8(kind->type)) spec.traits.epilogue.scale = static_cast<Scale>(random() % 3);
    if (kind->type != DataType::f32 && !is_integer && random() % 3 == 0) {
      spec.result = DataType::f32;
      spec.traits.vector_c = std::min(spec.traits.vector_c, 4);
    }
    if (codegen::broken_rule(spec, representative_device(arch)) == nullptr)
      samples.push_back({spec, arch});
  }
  return samples;
}

// Of many random kernels, those whose tiles hold every pair of parameter values that a tile of them
// holds, sizes as small, large or between (codegen/pair_cover.h), as far as `most` kernels go.
std::vector<Sample> covering_kernels(const codegen::Strategy& strategy, std::mt19937_64& random,
                                     size_t most) {
  const auto space = *codegen::default_search_space(strategy);
  const std::vector<Sample> samples = random_kernels(strategy, space, random);
  std::vector<TileConfig> tiles;
  for (const Sample& sample : samples) tiles.push_back(sample.spec.tile);
  const auto levels = codegen::levels_of(space, tiles);
  std::vector<Sample> chosen;
  for (const size_t i : codegen::pair_cover(levels, most)) chosen.push_back(samples[i]);
  return chosen;
}

// All quick cases at sizes around the tile, and some of the thorough ones.
std::vector<VerificationCase> random_cases(const codegen::KernelSpec& spec,
                                           std::mt19937_64& random) {
  CaseSizes sizes = ragged_sizes(spec.tile);
  sizes.m = std::max<int64_t>(1, sizes.m - static_cast<int64_t>(random() % 8));
  sizes.n = std::max<int64_t>(1, sizes.n - static_cast<int64_t>(random() % 8));
  sizes.k += static_cast<int64_t>(random() % 8);
  auto cases = verification_cases(kind_of(spec), sizes, Effort::thorough);
  const auto quick =
      static_cast<std::ptrdiff_t>(verification_cases(kind_of(spec), sizes, Effort::quick).size());
  std::shuffle(cases.begin() + quick, cases.end(), random);
  cases.resize(std::min(cases.size(), static_cast<size_t>(quick) + kExtraCases));
  return cases;
}

ptxsim::Options random_options(std::mt19937_64& random) {
  ptxsim::Options options;
  options.async = random() % 2 == 0 ? ptxsim::AsyncMode::early : ptxsim::AsyncMode::late;
  options.seed = random() % 3;
  return options;
}

struct Ran {
  std::atomic<int> cases = 0;
  std::atomic<int> not_simulated = 0;  // kernels
};

// Returns how many cases ran.
int check_kernel(const Sample& sample, std::mt19937_64& random, Ran& ran) {
  CAPTURE(codegen::kernel_name(sample.spec));
  CAPTURE(to_string(sample.arch));
  const auto kernel = SimVerifier::load(sample.spec, compiler());
  if (!kernel && kernel.error().kind == ErrorKind::unsupported) {
    MESSAGE(kernel.error().message);
    ++ran.not_simulated;
    return 0;
  }
  if (!kernel) {
    FAIL_CHECK(kernel.error().message);
    return 0;
  }
  const std::vector<VerificationCase> cases = random_cases(sample.spec, random);
  for (const VerificationCase& test : cases) {
    const auto verdict = kernel->verify(test, random_options(random));
    CHECK_MESSAGE(verdict.has_value(), verdict.error().message);
    if (verdict) CHECK_MESSAGE(verdict->correct(), verdict->detail);
  }
  return static_cast<int>(cases.size());
}

// A strategy's sample does not depend on the others.
void check_strategy(const codegen::Strategy& strategy, uint64_t seed, size_t most, Ran& ran) {
  CAPTURE(strategy.name());
  std::mt19937_64 random(seed);
  int cases = 0;
  for (const Sample& sample : covering_kernels(strategy, random, most))
    cases += check_kernel(sample, random, ran);
  CHECK(cases > 0);
  ran.cases += cases;
}

TEST_CASE("every strategy computes what it should, on every arch it serves") {
  const uint64_t seed = from_environment("GEMMTUNE_SIM_SEED", 1);
  const size_t most = from_environment("GEMMTUNE_SIM_KERNELS", kMostKernels);
  const auto strategies = codegen::strategies();
  Ran ran;
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  for_each_index(strategies.size(), threads,
                 [&](size_t i) { check_strategy(*strategies[i], seed, most, ran); });
  MESSAGE(ran.cases.load(),
          " cases; kernels that the simulator cannot run: ", ran.not_simulated.load());
  if (most >= kMostKernels) CHECK(ran.cases >= kLeastCases);
}

// Replaces `what` in the headers of a source; true if it was there.
bool replace(codegen::KernelSource& source, const std::string& what, const std::string& with) {
  bool found = false;
  for (codegen::SourceHeader& header : source.headers) {
    for (size_t at = 0; (at = header.text.find(what, at)) != std::string::npos; at += with.size()) {
      header.text.replace(at, what.size(), with);
      found = true;
    }
  }
  return found;
}

struct Mutant {
  std::string_view strategy;
  std::string_view tile;
  std::string_view what;
  std::string_view with;
  VerdictKind kind;
  std::string_view detail;  // part of it
};

constexpr const char* kWarpTile =
    "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 iterations_m=2 "
    "iterations_n=1";
constexpr const char* kThreadTile = "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=8";

constexpr const char* kGemv =
    "tile_m=2 tile_n=64 thread_m=2 thread_n=4 warps=4 unroll=4 copy=2 fragments=1 slices=1";
constexpr const char* kSkinny =
    "tile_m=8 tile_n=64 tile_k=64 thread_m=8 thread_n=4 warps=4 unroll=2 stages=4 copy=1 "
    "fragments=1 slices=1";

constexpr const char* kSliced =
    "tile_m=64 tile_n=64 tile_k=8 warp_m=64 warp_n=32 thread_m=8 thread_n=8 stages=4 lanes=1 "
    "order=1 fragments=1 groups=4 slices=1";
constexpr const char* kAhead =
    "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 lanes=1 "
    "order=1 fragments=2 ahead=2";

// 192 vectors of B, or of A, for 128 threads.
constexpr const char* kUnevenB =
    "tile_m=128 tile_n=96 tile_k=8 warp_m=32 warp_n=96 thread_m=8 thread_n=12 stages=3 lanes=1 "
    "order=1 fragments=2 ahead=2";
constexpr const char* kUnevenA =
    "tile_m=96 tile_n=128 tile_k=8 warp_m=96 warp_n=32 thread_m=12 thread_n=8 stages=3 lanes=1 "
    "order=1 fragments=1";

// 512 words of A for 384 threads: six lines of k, then two.
constexpr const char* kUnevenLines =
    "tile_m=64 tile_n=96 tile_k=8 warp_m=32 warp_n=16 thread_m=4 thread_n=4 stages=4 lanes=0 "
    "order=2 fragments=2 ahead=1";

TEST_CASE("copies that not all warps make") {
  check_quick_cases(spec_of("multistage", kUnevenLines, {false, true, 1, 2, 2}, DataType::f32));
  check_quick_cases(spec_of("multistage", kUnevenB, {true, true, 4, 4, 4}, DataType::f32));
  check_quick_cases(spec_of("multistage", kUnevenA, {false, true, 4, 4, 4}, DataType::f32));
  check_quick_cases(spec_of("multistage", kUnevenA, {false, false, 4, 1, 1}, DataType::f32));
  const auto spec = spec_of("multistage", kUnevenB, {true, true, 4, 4, 4}, DataType::f32);
  const SimVerifier without = load_mutant(spec, {"if (Iterator::has(i))", "if (true)"});
  CHECK(!verdict_of(without, spec).correct());
}

// From 64 slices on, blocks that add them up take fewer columns of C.
TEST_CASE("many slices of a small C") {
  const std::string tile =
      "tile_m=32 tile_n=32 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 copy=1 "
      "lanes=1 order=1 fragments=1 ";
  for (const char* slices : {"slices=63", "slices=64", "slices=132"}) {
    for (const int width : {1, 2, 4}) {
      const KernelTraits traits{true, true, width, width, width};
      check_quick_cases(spec_of("split_k", tile + slices, traits, DataType::f32));
    }
  }
}

// Two buffers, filled through registers or by cp.async: the same tile.
TEST_CASE("double_buffer's ways of copying") {
  const std::string tile =
      "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 lanes=1 order=1 ";
  for (const char* rest :
       {"fragments=1", "fragments=2", "copy=1 fragments=1", "copy=1 fragments=2"}) {
    for (const bool b_row_major : {true, false}) {
      for (const int width : {1, 4}) {
        const KernelTraits traits{true, b_row_major, width, width, width};
        check_quick_cases(spec_of("double_buffer", tile + rest, traits, DataType::f32));
      }
    }
  }
}

constexpr Mutant kMutants[] = {
    {"double_buffer",
     "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 copy=1 fragments=1",
     "Group::sync();\n      if (t +", "if (t +", VerdictKind::wrong_result, "shared_race"},
    {"sliced_k", kSliced, "cp_async_wait<0>();", "", VerdictKind::wrong_result,
     "missing_async_wait"},
    {"sliced_k", kSliced, "Group::sync();  // everyone", "// everyone", VerdictKind::wrong_result,
     "shared_race"},
    {"multistage", kAhead, "Group::sync();\n      ring.advance();", "ring.advance();",
     VerdictKind::wrong_result, "shared_race"},
    {"naive", "tile_m=8 tile_n=32", "k < args.k", "k <= args.k", VerdictKind::out_of_bounds, ""},
    {"naive", "tile_m=8 tile_n=32", "m >= args.m || ", "", VerdictKind::out_of_bounds, ""},
    {"smem_tile", "tile_m=16 tile_n=16 tile_k=8", "column + c < columns", "true",
     VerdictKind::out_of_bounds, ""},
    {"thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8",
     "__syncthreads();  // nobody reads them any more", "", VerdictKind::wrong_result,
     "shared_race"},
    {"thread_tile_2d", kThreadTile, "__syncthreads();  // the tiles are complete", "",
     VerdictKind::wrong_result, "shared_race"},
    {"register_cache", kThreadTile, "args.beta != 0.0f", "true", VerdictKind::wrong_result,
     "uninitialised_global"},
    {"vectorized", "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=8 vector=4",
     "inside && Iterator::k_of(i) < depth", "inside", VerdictKind::wrong_result, "expected"},
    {"vectorized", "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=8 vector=4",
     "sums.v[v] *= args.alpha", "sums.v[v] *= 1", VerdictKind::wrong_result, "expected"},
    {"vectorized", "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=8 vector=4",
     "mn_of(i) < left_", "true", VerdictKind::out_of_bounds, ""},
    {"gemv", kGemv, "const bool valid = k_ + G::k_of(u) < k_end_;", "const bool valid = true;",
     VerdictKind::out_of_bounds, ""},
    {"skinny", kSkinny, "__syncthreads();  // nobody reads the last slab", "  //",
     VerdictKind::wrong_result, "shared_race"},
    {"skinny", kSkinny, "cp_async_wait<kTile.stages - 2>();", "", VerdictKind::wrong_result, ""},
    {"warp_tile", kWarpTile, "if (m >= writer.args.m) continue", "if (m > writer.args.m) continue",
     VerdictKind::out_of_bounds, ""},
    {"warp_tile", kWarpTile, "row = warp / kWarpsN", "row = warp % kWarpsN", VerdictKind::unwritten,
     "was not written"},
};

TEST_CASE("planted faults are found") {
  for (const Mutant& mutant : kMutants) {
    CAPTURE(mutant.strategy);
    CAPTURE(mutant.what);
    codegen::KernelSpec spec{*codegen::find_strategy(mutant.strategy),
                             *parse_tile(mutant.tile),
                             {true, true, 1, 1, 1},
                             DataType::f32};
    spec.arch = {8, 0, false};
    REQUIRE(codegen::broken_rule(spec, representative_device(spec.arch)) == nullptr);
    codegen::KernelSource source = codegen::emit(spec);
    REQUIRE(replace(source, std::string(mutant.what), std::string(mutant.with)));
    const auto kernel = SimVerifier::load(spec, source, compiler());
    REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
    const auto verdict =
        kernel->verify(verification_cases(kind_of(spec), ragged_sizes(spec.tile), Effort::quick),
                       kernel->async_modes(), {});
    REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
    CHECK_MESSAGE(verdict->kind == mutant.kind, verdict->detail);
    CHECK_MESSAGE(verdict->detail.find(mutant.detail) != std::string::npos, verdict->detail);
  }
}

TEST_CASE("the host verifier compiles, runs and judges") {
  const auto shared = std::make_shared<const jit::Compiler>(jit::real_nvrtc());
  const HostVerifier verifier = sim_host_verifier(shared);
  codegen::KernelSpec spec{*codegen::find_strategy("warp_tile"),
                           *parse_tile(kWarpTile),
                           {true, false, 4, 4, 4},
                           DataType::f32};
  spec.arch = {9, 0, false};
  const auto verdict = verifier(spec);
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  CHECK_MESSAGE(verdict->correct(), verdict->detail);
  CHECK(verdict->max_error > 0);
}

}  // namespace
}  // namespace gemmtune::tuner
