#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/wgmma_planes_strategy.h"
#include "parts/shared/wgmma_tiles.h"
#include "sim_kernel.h"
#include "tuner/verify/sim_arguments.h"

// What is particular to wgmma_tf32_planes: f32 operands in any layout and alignment as sums of tf32
// planes with k contiguous, three products of them, and what tf32 does not hold.

namespace gemmtune::tuner {
namespace {

// Cooperative, ping-pong, exchanged; clusters; parts of one tile of k, which overlap where
// registers allow it, and of several.
constexpr const char* kWays[] = {
    "tile_m=64 tile_n=64 tile_k=32 stages=2 consumers=1 persistent_blocks=1 promotion=1",
    "tile_m=128 tile_n=48 tile_k=32 stages=3 consumers=2 persistent_blocks=2 promotion=2",
    "tile_m=64 tile_n=40 tile_k=64 stages=2 consumers=2 schedule=1 persistent_blocks=1 promotion=1",
    "tile_m=16 tile_n=64 tile_k=64 stages=2 consumers=1 exchange=1 promotion=4",
    "tile_m=64 tile_n=32 tile_k=32 stages=4 consumers=1 cluster_m=2 cluster_n=2 promotion=3"};

codegen::KernelSpec of_planes(const char* tile, const KernelTraits& traits) {
  return spec_of("wgmma_tf32_planes", tile, traits, DataType::f32, DataType::f32, MathMode::tf32x3,
                 kSm90a);
}

Problem problem_of(const Shape& shape, std::string_view layout) {
  Problem problem = make_problem(shape, DataType::f32, *parse_layout(layout));
  problem.math = MathMode::tf32x3;
  return problem;
}

// Quick cases have infinities, which meet the zeros of planes.
TEST_CASE(
    "wgmma_tf32_planes: every layout, and operands of which nothing, a pair or all is aligned") {
  constexpr int kWidths[][2] = {{4, 4}, {1, 4}, {4, 2}, {2, 1}};
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const auto& [width_a, width_b] : kWidths) {
        const KernelTraits traits{a, b, width_a, width_b, width_b};
        check_quick_cases(of_planes(kWays[way++ % std::size(kWays)], traits), kSm90a);
      }
    }
  }
}

TEST_CASE("wgmma_tf32_planes: each way with biases and activations") {
  size_t way = 0;
  for (const char* tile : kWays) {
    KernelTraits traits{true, false, 4, 4, way % 2 == 0 ? 4 : 1};
    traits.epilogue = way++ % 2 == 0 ? Epilogue{kBiasPerColumn, kGeluTanh}  //
                                     : Epilogue{kBiasPerRow, kSilu};
    check_quick_cases(of_planes(tile, traits), kSm90a);
  }
}

// Tiles of the split that are full and not, of several entries; entries that share an operand.
TEST_CASE("wgmma_tf32_planes: sizes around a tile of the split, and batches") {
  const auto check = [](const char* layout, const Shape& shape, int64_t batch, bool shared_b) {
    Problem problem = problem_of(shape, layout);
    problem.batch = batch;
    if (batch > 1) {
      problem.stride_a = shape.m * shape.k;
      problem.stride_b = shared_b ? 0 : shape.k * shape.n;
      problem.stride_c = shape.m * shape.n;
    }
    const auto spec = of_planes(kWays[0], codegen::traits_for(problem));
    check_product(spec, problem, Fill::random, 0.5F, kSm90a);
  };
  check("tnt", {128, 128, 32}, 1, false);
  check("ttt", {129, 260, 36}, 1, false);
  check("ntt", {131, 127, 33}, 1, false);
  check("nnt", {256, 4, 100}, 3, false);
  check("ntt", {132, 68, 40}, 3, true);
  check("tnt", {68, 72, 96}, 3, true);
  check("ttt", {1, 1, 1}, 2, false);
}

// A workspace that holds the planes of some rows of A at a time: their rows of C are computed one
// part after the other, the last of them not full.
TEST_CASE("planes: rows of C in parts, in every layout, with batches, biases and beta") {
  constexpr int64_t kMostBytes = 300000;
  const auto tf32 = codegen::make_wgmma_tf32_planes(kMostBytes);
  const auto bf16 = codegen::make_wgmma_planes(kMostBytes);
  size_t way = 0;
  for (const char* layout : {"ttt", "ntt", "tnt", "nnt"}) {
    for (const int64_t batch : {1, 2}) {
      for (const codegen::Strategy* strategy : {tf32.get(), bf16.get()}) {
        const Shape shape{way % 3 == 0 ? 516 : 700, way % 2 == 0 ? 36 : 41, 100 / batch};
        Problem problem = problem_of(shape, layout);
        problem.math = strategy == tf32.get() ? MathMode::tf32x3 : MathMode::bf16x6;
        problem.epilogue = {way % 2 == 0 ? kBiasPerRow : kBiasPerColumn, kNoActivation};
        problem.batch = batch;
        if (batch > 1) {
          problem.stride_a = shape.m * shape.k;
          problem.stride_b = shape.k * shape.n;
          problem.stride_c = shape.m * shape.n;
        }
        CAPTURE(key(problem));
        auto spec = codegen::spec_for(*strategy, *parse_tile(kWays[way++ % std::size(kWays)]),
                                      problem, {9, 0, false});
        const auto plan = strategy->launch_plan(spec, problem);
        CHECK(plan.launches.size() > 2);
        CHECK(plan.workspace_bytes <= kMostBytes);
        check_product(spec, problem, Fill::random, 0.5F, kSm90a);
      }
    }
  }
}

TEST_CASE("planes: as many parts as the workspace asks for, and none where B alone is too large") {
  const Problem head = problem_of({4096, 768, 50257}, "ttt");  // GPT-2's backward
  const auto spec = of_planes(kWays[0], codegen::traits_for(head));
  CHECK(spec.strategy->worthwhile(spec, head));
  const auto plan = spec.strategy->launch_plan(spec, head);
  CHECK(plan.launches.size() == 6);
  CHECK(plan.workspace_bytes <= int64_t{1} << 30);
  CHECK(plan.launches[2].config.grid.x < plan.launches[0].config.grid.x);  // without B
  CHECK(spec.strategy->work(spec, head).launches == 6);
  CHECK(spec.strategy->launch_plan(spec, problem_of({4096, 768, 768}, "ttt")).launches.size() == 2);
  CHECK_FALSE(spec.strategy->worthwhile(spec, problem_of({64, 50257, 8192}, "ttt")));
}

// Each by one more stage than before, and with the last part not full.
TEST_CASE("wgmma_tf32_planes: any number of parts of k") {
  constexpr const char* kTiles[] = {
      "tile_m=128 tile_n=64 tile_k=32 stages=3 consumers=2 persistent_blocks=1 promotion=1",
      "tile_m=64 tile_n=64 tile_k=32 stages=2 consumers=2 schedule=1 persistent_blocks=1 "
      "promotion=1",
      "tile_m=128 tile_n=64 tile_k=32 stages=3 consumers=2 persistent_blocks=1 promotion=2"};
  for (const char* tile : kTiles) {
    CHECK(overlaps_parts(*parse_tile(tile)));  // if they are of one tile of k
    for (const int64_t k : {4, 32, 36, 96, 128, 160}) {
      const Problem problem = problem_of({200, 72, k}, "tnt");
      check_product(of_planes(tile, codegen::traits_for(problem)), problem, Fill::random, 0.5F,
                    kSm90a);
    }
  }
}

TEST_CASE("wgmma_tf32_planes: a split without bank conflicts") {
  for (const char* layout : {"ttt", "nnt", "ntt"}) {
    const Problem problem = problem_of({128, 128, 64}, layout);
    check_no_conflicts(of_planes(kWays[0], codegen::traits_for(problem)), problem, kSm90a, 1);
    // Results in lines of an odd number of units; those of a power of two meet in pairs.
    check_no_conflicts(of_planes(kWays[2], codegen::traits_for(problem)), problem, kSm90a);
  }
}

double error_of(const codegen::KernelSpec& spec, const Problem& problem, Arch arch) {
  const auto verdict = load(spec, arch).verify({"long k", problem, 1, 0, Fill::random, 7}, {});
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  CHECK_MESSAGE(verdict->correct(), verdict->detail);
  return verdict->max_error;
}

// Both parts are rounded, where mma kernels cut them off.
TEST_CASE("wgmma_tf32_planes: more accurate than f32 and than 3xtf32 by mma") {
  const Problem problem = problem_of({64, 64, 2048}, "ttt");
  const KernelTraits traits = codegen::traits_for(problem);
  const double error =
      error_of(of_planes("tile_m=64 tile_n=64 tile_k=32 stages=2 consumers=1 promotion=4", traits),
               problem, kSm90a);
  const auto by_mma = spec_of("mma_multistage",
                              "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=2 copy=1 "
                              "order=1 fragments=1",
                              traits, DataType::f32, DataType::f32, MathMode::tf32x3);
  CHECK(error < error_of(by_mma, problem, kSimArch));
  Problem f32 = problem;
  f32.math = MathMode::ieee;
  const auto plain =
      spec_of("naive", "tile_m=8 tile_n=32", traits, DataType::f32, DataType::f32, MathMode::ieee);
  CHECK(error < error_of(plain, f32, kSimArch));
}

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
uint64_t put(ptxsim::GlobalMemory& memory, const std::vector<T>& values, const char* name) {
  const uint64_t at = memory.allocate(values.size() * sizeof(T), 256, name).value();
  REQUIRE(memory.write(at, std::as_bytes(std::span(values))));
  return at;
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT: an address of simulated memory
}

// C of a kernel's launches on operands that are written out.
std::vector<float> product_of(codegen::KernelSpec spec, const Problem& problem,
                              const std::vector<float>& a, const std::vector<float>& b) {
  spec.arch = kSm90a;
  const codegen::KernelSource source = codegen::emit(spec);
  const std::string ptx = ptx_of(source, kSm90a);
  const auto module = ptxsim::parse(ptx, source.name);
  REQUIRE_MESSAGE(module.has_value(), module.error().message);
  const codegen::LaunchPlan plan = spec.strategy->launch_plan(spec, problem);
  ptxsim::GlobalMemory memory;
  std::vector<float> c(static_cast<size_t>(problem.shape.m * problem.shape.n));
  launch::Operands operands;
  operands.a = pointer(put(memory, a, "A"));
  operands.b = pointer(put(memory, b, "B"));
  const uint64_t to = put(memory, c, "C");
  operands.c = pointer(to);
  const auto bytes = static_cast<uint64_t>(plan.workspace_bytes);
  operands.workspace = pointer(memory.allocate(bytes, 256, "workspace").value());
  for (const codegen::KernelLaunch& launch : plan.launches) {
    const auto arguments = simulated_arguments(launch, problem, false, operands);
    REQUIRE_MESSAGE(arguments.has_value(), arguments.error().message);
    const auto ran = ptxsim::run(*module, source.entries.at(static_cast<size_t>(launch.entry)),
                                 launch.config, *arguments, memory, {});
    REQUIRE_MESSAGE(ran.has_value(), ran.error().message);
    for (const ptxsim::Finding& finding : ran->findings) FAIL_CHECK(to_string(finding));
  }
  REQUIRE(memory.read(to, std::as_writable_bytes(std::span(c))));
  return c;
}

// A row of A times the ones of B. The largest numbers round to infinities of tf32; what is below
// its normal numbers keeps the bits that f32 has.
TEST_CASE("wgmma_tf32_planes: the largest and the smallest numbers, infinities and NaN") {
  constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Row {
    float value;
    float sum;  // of the value and a zero
  };
  const Row rows[] = {{kLargest, kLargest},
                      {-kLargest, -kLargest},
                      {kInfinity, kInfinity},
                      {-kInfinity, -kInfinity},
                      {0x1.fffffep-1F, 0x1.fffffep-1F},
                      {0x1p-126F, 0x1p-126F},
                      {0x1.8p-130F, 0x1.8p-130F},
                      {0, 0}};
  for (const char* layout : {"tnt", "ntt"}) {
    const Problem problem = problem_of({12, 4, 4}, layout);
    const bool along_k = problem.layout.a == Order::row_major;
    std::vector<float> a(size_t{12} * 4);
    const auto at = [&](size_t m, size_t k) -> float& {
      return a[along_k ? m * 4 + k : k * 12 + m];
    };
    for (size_t m = 0; m < std::size(rows); ++m) at(m, 1) = rows[m].value;
    at(8, 0) = kInfinity, at(8, 3) = -kInfinity;
    at(9, 2) = kNan;
    at(10, 0) = kLargest, at(10, 1) = kLargest;
    at(11, 3) = kSmallest;
    const auto c = product_of(of_planes(kWays[0], codegen::traits_for(problem)), problem, a,
                              std::vector<float>(16, 1.0F));
    for (size_t n = 0; n < 4; ++n) {
      CAPTURE(n);
      for (size_t m = 0; m < std::size(rows); ++m) CHECK(c[m * 4 + n] == rows[m].sum);
      CHECK(std::isnan(c[8 * 4 + n]));
      CHECK(std::isnan(c[9 * 4 + n]));
      CHECK(c[10 * 4 + n] == kInfinity);
      CHECK(c[11 * 4 + n] <= kSmallest);
    }
  }
}

constexpr Mutant kFaults[] = {
    {"sums.add(of_part);", "sums = of_part;"},
    {"wgmma_wait<1>();\n      add(", "add("},
    {"entry_a + plane_a + i,", "entry_a + plane_a,"},
    {"entry_b + plane_b + i,", "entry_b + plane_b,"},
    {"return tile_a(stage) + kPlanes * TileA::kBytes;", "return tile_a(stage) + TileA::kBytes;"},
    {"Passes::plane_b(pair) * B::kBytes", "Passes::plane_a(pair) * B::kBytes"},
    {"adds || pair > 0", "adds"},
    {"kOfB >> (4 * pair)", "kOfA >> (4 * pair)"},
    {"nearest_tf32(values.v[i] - big.v[i])", "0"},
    {"store_vector(to + plane, small);", "store_vector(to + plane, big);"},
    {"to += entry * (plane() * Stored::kPlanes);", "to += entry * plane();"},
    {"workspace += a.elements();", "workspace += a.copy.elements();"},
    {"return sum == sum ? sum : exact_product<kTraits>(args, batch, m, n);", "return sum;"},
    {"correction<kOwnTraits, kTypes>(", "correction<kTraits, kTypes>("},
};

TEST_CASE("wgmma_tf32_planes: planted faults are found") {
  for (const Mutant& mutant : kFaults) {
    CAPTURE(mutant.what);
    const auto spec = of_planes(kWays[0], {false, true, 1, 1, 1});
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  }
}

TEST_CASE("wgmma_tf32_planes: both kernels wait for those before them") {
  check_waits(of_planes(kWays[0], {true, true, 4, 4, 4}), kSm90a);
}

// Sums and those of a part, or of two parts that overlap: 176 and 192 registers beside what else a
// consumer keeps.
TEST_CASE("wgmma_tf32_planes: large tiles do not spill") {
  for (const char* tile :
       {"tile_m=128 tile_n=176 tile_k=32 stages=2 raster=8 consumers=2 cluster_m=2 promotion=8 "
        "persistent_blocks=132",
        "tile_m=128 tile_n=128 tile_k=32 stages=3 raster=4 consumers=2 cluster_n=2 promotion=1 "
        "persistent_blocks=132",
        "tile_m=128 tile_n=128 tile_k=32 stages=3 consumers=2 promotion=4"}) {
    for (const bool a : {true, false}) {
      check_spills_nothing(of_planes(tile, {a, true, 4, 4, 4}), kSm90a);
    }
  }
}

}  // namespace
}  // namespace gemmtune::tuner
