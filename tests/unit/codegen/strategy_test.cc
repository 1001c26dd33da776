#include "codegen/strategy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <set>

#include "../rounds.h"
#include "codegen/emitter.h"
#include "codegen/search_space.h"
#include "codegen/tiling.h"

namespace gemmtune::codegen {
namespace {

Problem random_problem(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Problem p;
  p.shape = {pick(1, 300), pick(1, 300), pick(1, 300)};
  p.layout.a = random() % 2 == 0 ? Order::row_major : Order::column_major;
  p.layout.b = random() % 2 == 0 ? Order::row_major : Order::column_major;
  p.batch = pick(1, 3);
  pack(p);
  p.lda += pick(0, 4);
  p.ldb += pick(0, 4);
  p.ldc += pick(0, 4);
  p.stride_a = p.stride_b = p.stride_c = 0;
  pack(p);
  p.align_bytes = 4 << pick(0, 3);
  return p;
}

TEST_CASE("a vector width divides every address of its operand") {
  std::mt19937 random(7);
  int wide = 0;
  for (int i = 0; i < 5000; ++i) {
    const Problem p = random_problem(random);
    const KernelTraits t = traits_for(p);
    const int width = t.vector_a;
    wide += width > 1 ? 1 : 0;
    CHECK(p.align_bytes % (width * 4) == 0);
    CHECK(p.lda % width == 0);
    CHECK(p.stride_a % width == 0);
    CHECK((t.a_row_major ? p.shape.k : p.shape.m) % width == 0);
    CHECK((t.b_row_major ? p.shape.n : p.shape.k) % t.vector_b == 0);
    CHECK(p.shape.n % t.vector_c == 0);
  }
  CHECK(wide > 100);
}

TEST_CASE("the widest vector is chosen where everything is aligned") {
  const KernelTraits t = traits_for(make_problem({128, 256, 64}));
  CHECK(t == KernelTraits{true, true, 4, 4, 4});
  // 16 bytes are 8 elements of 16 bits; the shape's own factor may be less.
  CHECK(traits_for(make_problem({128, 256, 64}, DataType::f16)) ==
        KernelTraits{true, true, 8, 8, 8});
  CHECK(traits_for(make_problem({128, 252, 62}, DataType::bf16)) ==
        KernelTraits{true, true, 2, 4, 4});
  CHECK(traits_for(make_problem({128, 252, 61}, DataType::bf16)).vector_a == 1);
}

TEST_CASE("blocks that share operands or whose sums meet are launched as a cluster") {
  TileConfig tile;
  CHECK(tiling::blocks_of_cluster(tile) == 1);
  tile.slices = 4;
  CHECK(tiling::blocks_of_cluster(tile) == 1);
  tile.reduction = kReduceCluster;
  CHECK(tiling::blocks_of_cluster(tile) == 4);
  tile.cluster_m = 2;
  CHECK(tiling::blocks_of_cluster(tile) == 8);
}

TEST_CASE("B beside few rows is read once") {
  const auto of = [](const Shape& shape) { return reads_b_once(make_problem(shape)); };
  CHECK(of({1, 4096, 4096}));
  CHECK(of({512, 4096, 4096}));
  CHECK_FALSE(of({513, 4096, 4096}));
  CHECK_FALSE(of({4096, 1, 4096}));
  CHECK_FALSE(of({64, 64, 65536}));
  CHECK(of({64, 65, 65536}));
  // One B of all entries of a batch is read by each of them.
  Problem batch = make_problem({8, 4096, 4096});
  batch.batch = 4;
  pack(batch);
  CHECK(reads_b_once(batch));
  batch.stride_b = 0;
  CHECK_FALSE(reads_b_once(batch));
}

TEST_CASE("kernels know it where they can tell L2") {
  const Problem few = make_problem({8, 4096, 4096}, DataType::f16, *parse_layout("tnt"));
  const auto spec = [&](std::string_view strategy, Arch arch) {
    return spec_for(**find_strategy(strategy), {}, few, arch);
  };
  CHECK(spec("wgmma_tma", {9, 0}).traits.b_read_once);
  CHECK(spec("mma_split_k", {8, 0}).traits.b_read_once);
  CHECK_FALSE(spec("mma_split_k", {7, 5}).traits.b_read_once);
  CHECK_FALSE(spec("wgmma_misaligned", {9, 0}).traits.b_read_once);
  // Another kernel, so under another name.
  CHECK(kernel_name(spec("mma_split_k", {8, 0})).ends_with("_b_once"));
}

TEST_CASE("loads a multiply-add, as the published ladders count them") {
  const auto loads = [](std::string_view strategy, std::string_view tile) {
    const KernelSpec spec{*find_strategy(strategy), *parse_tile(tile), {}, DataType::f32};
    return spec.strategy->loads(spec);
  };
  CHECK(loads("naive", "tile_m=32 tile_n=32").global == 8);
  CHECK(loads("naive", "tile_m=32 tile_n=32").shared == 0);
  // 32 x 32 tiles: one word in 32 comes from global memory.
  CHECK(loads("smem_tile", "tile_m=32 tile_n=32 tile_k=32").global == 8.0 / 32);
  CHECK(loads("smem_tile", "tile_m=32 tile_n=32 tile_k=32").shared == 8);
  // 8 results per thread: 9 words of shared memory for 8 multiply-adds.
  CHECK(loads("thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8").shared == 4.0 * 9 / 8);
  const LoadBytes square =
      loads("register_cache", "tile_m=128 tile_n=128 tile_k=8 thread_m=8 thread_n=8");
  CHECK(square.global == 8.0 / 128);
  CHECK(square.shared == 8.0 / 8);
}

TEST_CASE("every strategy describes itself") {
  std::set<std::string_view> names;
  for (const Strategy* strategy : strategies()) {
    CHECK(names.insert(strategy->name()).second);
    CHECK_FALSE(strategy->summary().empty());
    CHECK_FALSE(template_text(strategy->template_file()).empty());
    CHECK_FALSE(strategy->rules().empty());
    for (const std::string_view parameter : strategy->parameters())
      CHECK(find_tile_field(parameter) != nullptr);
    CHECK(default_search_space(*strategy).has_value());
  }
}

TEST_CASE("an unknown strategy is answered with the nearest names") {
  const auto found = find_strategy("duble_buffer");
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == ErrorKind::usage);
  CHECK(found.error().message.find("did you mean 'double_buffer'") != std::string::npos);
}

// Sanity of every legal tile, for random samples of every space on every arch and layout.
TEST_CASE("a legal tile launches within the limits and covers C") {
  std::mt19937 random(11);
  for (const Strategy* strategy : strategies()) {
    const SearchSpace space = *default_search_space(*strategy);
    for (const Arch arch : known_archs()) {
      const DeviceSpec& device = representative_device(arch);
      for (int i = 0; i < rounds(4000); ++i) {
        Problem p = random_problem(random);
        if (strategy->takes_types()) {
          p.type = random() % 2 == 0 ? DataType::f16 : DataType::bf16;
          if (p.type == DataType::f16 && random() % 2 == 0) p.accumulator = DataType::f16;
        }
        if (!strategy->supports(p, arch)) continue;
        const auto index = std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random);
        const KernelSpec spec = spec_for(*strategy, space.at(index), p, device.arch);
        if (broken_rule(spec, device) != nullptr) continue;
        const int threads = strategy->threads(spec.tile);
        CHECK(threads % 32 == 0);
        CHECK(threads <= 1024);
        CHECK(strategy->smem_bytes(spec) <= device.max_smem_bytes_per_block);
        CHECK(strategy->estimated_registers(spec) <= device.max_registers_per_thread);
        const auto entries = strategy->entry_points(spec);
        CHECK(entries.front().threads == threads);
        const LaunchPlan plan = strategy->launch_plan(spec, p);
        const KernelWork work = strategy->work(spec, p);
        int mains = 0;
        for (const KernelLaunch& launch : plan.launches) {
          const EntryPoint& entry = entries.at(static_cast<size_t>(launch.entry));
          const LaunchConfig& config = launch.config;
          CHECK(config.block.count() == static_cast<uint64_t>(entry.threads));
          CHECK(config.dynamic_smem_bytes == entry.smem_bytes);
          CHECK(config.grid.x % config.cluster.x == 0);
          REQUIRE(launch.arguments.size() == entry.parameters.size());
          for (size_t a = 0; a < launch.arguments.size(); ++a)
            CHECK(kind_of(launch.arguments[a]) == entry.parameters[a]);
          if (launch.entry != 0) continue;
          ++mains;
          // A persistent grid goes through the tiles that its blocks are fewer than.
          const int64_t persistent = spec.tile.persistent_blocks;
          const int64_t blocks = persistent == 0 ? work.blocks : std::min(work.blocks, persistent);
          CHECK(config.grid.count() == static_cast<uint64_t>(blocks));
          CHECK(work.blocks * spec.tile.tile_m * spec.tile.tile_n * work.block_depth >=
                p.shape.m * p.shape.n * p.shape.k * p.batch);
        }
        CHECK(plan.launches.size() == static_cast<size_t>(work.launches));
        CHECK(mains == 1);
        CHECK(plan.workspace_bytes >= 0);
      }
    }
  }
}

TEST_CASE("a tile reports the rule that it breaks") {
  const Strategy* strategy = *find_strategy("double_buffer");
  SearchSpace space = *default_search_space(*strategy);
  for (auto& values : space.values) values.resize(std::min<size_t>(values.size(), 3));
  const auto result =
      enumerate(space, make_problem({128, 128, 128}), representative_device({8, 0, false}));
  CHECK(result.legal.size() > 1000);
  int64_t refused = 0;
  for (const RuleCount& count : result.refused) {
    CHECK_FALSE(count.rule->reason.empty());
    refused += count.refused;
  }
  CHECK(refused + static_cast<int64_t>(result.legal.size()) == space.size());
}

struct Published {
  std::string_view strategy;
  std::string_view tile;
};

// The tiles of the published ladders (siboehm.com, "How to Optimize a CUDA Matmul Kernel", and the
// SGEMM logs that follow the same rungs), in the order of the ladder.
constexpr Published kPublished[] = {
    {"naive", "tile_m=32 tile_n=32"},
    {"smem_tile", "tile_m=32 tile_n=32 tile_k=32"},
    {"thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8"},
    {"thread_tile_2d", "tile_m=128 tile_n=128 tile_k=8 thread_m=8 thread_n=8"},
    {"thread_tile_2d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=8"},
    {"register_cache", "tile_m=128 tile_n=128 tile_k=8 thread_m=8 thread_n=8"},
    {"vectorized", "tile_m=128 tile_n=128 tile_k=8 thread_m=8 thread_n=8 vector=4"},
    {"warp_tile",
     "tile_m=128 tile_n=128 tile_k=16 warp_m=64 warp_n=64 thread_m=8 thread_n=16 iterations_m=1 "
     "iterations_n=4"},
    {"warp_tile",
     "tile_m=64 tile_n=128 tile_k=16 warp_m=32 warp_n=64 thread_m=16 thread_n=4 iterations_m=4 "
     "iterations_n=1"},
};

TEST_CASE("the early rungs stand in ladder order, with the published tiles in small spaces") {
  size_t rung = 0;
  for (const Published& published : kPublished) {
    CAPTURE(published.strategy);
    CAPTURE(published.tile);
    while (rung < strategies().size() && strategies()[rung]->name() != published.strategy) ++rung;
    REQUIRE(rung < strategies().size());
    const auto legal =
        enumerate(*default_search_space(*strategies()[rung]), make_problem({256, 256, 256}),
                  representative_device({8, 0, false}))
            .legal;
    CHECK(legal.size() >= 10);
    CHECK(legal.size() <= 500);
    CHECK(std::count(legal.begin(), legal.end(), *parse_tile(published.tile)) == 1);
  }
}

// CUTLASS's CuTe tutorial for sm_80 (examples/cute/tutorial/sgemm_sm80.cu, its HGEMM), and the
// tiles that follow from it.
TEST_CASE("the tensor-core space holds the published tiles") {
  const Strategy* strategy = *find_strategy("mma_multistage");
  Problem p = make_problem({5120, 5120, 4096}, DataType::f16, *parse_layout("tnt"));
  p.accumulator = DataType::f16;
  const SearchSpace space = *default_search_space(*strategy);
  for (const char* tile :
       {"tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 order=1 "
        "fragments=2 promotion=1 raster=1",
        "tile_m=128 tile_n=256 tile_k=32 warp_m=64 warp_n=64 stages=4 copy=1 order=1 "
        "fragments=2 promotion=1 raster=8",
        "tile_m=128 tile_n=160 tile_k=64 warp_m=64 warp_n=80 stages=2 copy=1 order=2 "
        "fragments=1 promotion=1 raster=8",
        "tile_m=64 tile_n=128 tile_k=64 warp_m=32 warp_n=64 stages=4 copy=1 order=1 "
        "fragments=2 promotion=1 raster=4"}) {
    CAPTURE(tile);
    const TileConfig point = *parse_tile(tile);
    CHECK(space.holds(point));
    CHECK(broken_rule(spec_for(*strategy, point, p, {8, 0, false}),
                      representative_device({8, 0, false})) == nullptr);
  }
}

// 64 x 64 tiles of 100 x 200: 2 x 4 of them, in two batch entries.
TEST_CASE("slices and groups of tensor-core kernels: grid, threads, memory, workspace") {
  constexpr std::string_view kTile =
      "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 order=1 fragments=2 "
      "raster=1 ";
  constexpr int kPipeline = 3 * (64 + 64) * 32 * 2;
  constexpr int kPartial = 64 * (64 + 8) * 4;
  struct Expected {
    std::string_view parts;
    unsigned blocks;
    unsigned cluster;
    unsigned finish_blocks;  // 0: there is no second kernel
    int threads;
    int smem_bytes;
    int64_t depth;  // of k = 1000, whole tiles
  };
  constexpr Expected kExpected[] = {
      {"groups=1 slices=3", 48, 1, 16 * 4, 128, kPipeline, 352},
      {"groups=1 slices=8", 128, 1, 16 * 16, 128, kPipeline, 128},
      {"groups=1 slices=2 reduction=2", 32, 2, 0, 128, kPipeline, 512},
      {"groups=4 slices=1", 16, 1, 0, 512, 4 * kPipeline, 1024},
      {"groups=2 slices=4", 64, 1, 16 * 8, 256, 2 * kPipeline, 256},
      {"groups=2 slices=4 reduction=2", 64, 4, 0, 256, 2 * kPipeline, 256},
  };
  static_assert(kPipeline > kPartial);
  Problem p = make_problem({100, 200, 1000}, DataType::f16);
  p.batch = 2;
  pack(p);
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.parts);
    const KernelSpec spec =
        spec_for(**find_strategy("mma_split_k"),
                 *parse_tile(std::string(kTile) + std::string(expected.parts)), p, {9, 0, false});
    REQUIRE(broken_rule(spec, representative_device({9, 0, false})) == nullptr);
    const LaunchPlan plan = spec.strategy->launch_plan(spec, p);
    CHECK(plan.launches[0].config.grid == Dim3{expected.blocks, 1, 1});
    CHECK(plan.launches[0].config.cluster == Dim3{expected.cluster, 1, 1});
    CHECK(spec.strategy->threads(spec.tile) == expected.threads);
    CHECK(spec.strategy->smem_bytes(spec) == expected.smem_bytes);
    CHECK(spec.strategy->work(spec, p).block_depth == expected.depth);
    CHECK(spec.strategy->deterministic(spec));
    const bool finishes = expected.finish_blocks > 0;
    REQUIRE(plan.launches.size() == (finishes ? 2 : 1));
    CHECK(plan.workspace_bytes == (finishes ? int64_t{expected.blocks} * 64 * 64 * 4 : 0));
    if (finishes) CHECK(plan.launches[1].config.grid == Dim3{expected.finish_blocks, 1, 1});
  }
}

// The 64 x 32 blocks with which the SGEMM logs begin on tensor cores, and the CUDA samples'
// cudaTensorCoreGemm (there with one buffer).
TEST_CASE("the wmma space holds the published tiles") {
  const Strategy* strategy = *find_strategy("wmma");
  const Problem p = make_problem({5120, 5120, 4096}, DataType::f16);
  for (const Arch arch : {Arch{7, 5, false}, Arch{8, 0, false}}) {
    const auto legal =
        enumerate(*default_search_space(*strategy), p, representative_device(arch)).legal;
    CHECK(legal.size() > 1000);
    for (const char* tile : {"tile_m=64 tile_n=32 tile_k=16 warp_m=32 warp_n=16 raster=1",
                             "tile_m=64 tile_n=32 tile_k=32 warp_m=16 warp_n=16 raster=1",
                             "tile_m=128 tile_n=128 tile_k=32 warp_m=32 warp_n=64 raster=1"}) {
      CAPTURE(tile);
      CHECK(std::count(legal.begin(), legal.end(), *parse_tile(tile)) == 1);
    }
  }
}

// As for the early rungs: a tile that breaks the rule and no earlier one.
TEST_CASE("the tensor-core strategy names what is wrong with a tile") {
  struct Wrong {
    std::string_view tile;
    std::string_view rule;
    KernelTraits traits = {true, false, 8, 8, 8};
  };
  constexpr Wrong kWrong[] = {
      {"tile_m=128 tile_n=128 tile_k=32 warp_m=48 warp_n=64", "tile_m divisible by warp_m"},
      {"tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=48", "tile_n divisible by warp_n"},
      {"tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=8", "warp tiles made of 16 x 16 subtiles"},
      {"tile_m=128 tile_n=128 tile_k=24 warp_m=64 warp_n=64", "tile_k made of k steps"},
      {"tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 fragments=3",
       "1 or 2 fragment buffers"},
      {"tile_m=128 tile_n=128 tile_k=48 warp_m=64 warp_n=64 fragments=2",
       "two fragment buffers need an even number of k steps"},
      {"tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 fragments=1 stages=1 copy=1",
       "at least 2 stages"},
      {"tile_m=96 tile_n=128 tile_k=32 warp_m=48 warp_n=16 fragments=1 stages=2 copy=1",
       "threads divide the copies of a tile of A"},
      {"tile_m=128 tile_n=96 tile_k=32 warp_m=16 warp_n=48 fragments=1 stages=2 copy=1",
       "threads divide the copies of a tile of B"},
      {"tile_m=256 tile_n=256 tile_k=32 warp_m=128 warp_n=64 fragments=1 stages=2 copy=1",
       "registers fit a thread"},
      // Element by element, through more registers than there are.
      {"tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 fragments=2 stages=3 copy=1",
       "registers fit a thread",
       {true, false, 1, 1, 1}},
      {"tile_m=256 tile_n=256 tile_k=64 warp_m=64 warp_n=64 fragments=1 stages=5 copy=1",
       "registers fit min_blocks blocks per SM"},
      {"tile_m=256 tile_n=128 tile_k=64 warp_m=64 warp_n=64 fragments=1 stages=5 copy=1",
       "shared memory fits a block"},
  };
  for (const Wrong& wrong : kWrong) {
    CAPTURE(wrong.tile);
    const KernelSpec spec{*find_strategy("mma_multistage"), *parse_tile(wrong.tile), wrong.traits,
                          DataType::bf16};
    const Rule* rule = broken_rule(spec, representative_device({8, 0, false}));
    REQUIRE(rule != nullptr);
    CHECK(rule->name == wrong.rule);
    CHECK_FALSE(rule->reason.empty());
  }
}

// The compiler splits fragments ahead: the first of these takes 236 registers for sm_90, the others
// spill 64 to 280 bytes.
TEST_CASE("tiles of 3xtf32 whose split fragments would spill are illegal") {
  Problem problem = make_problem({2048, 2048, 2048});
  problem.math = MathMode::tf32x3;
  const auto legal = [&](std::string_view tile) {
    const auto spec =
        spec_for(**find_strategy("mma_multistage"), *parse_tile(tile), problem, {9, 0, false});
    return broken_rule(spec, representative_device({9, 0, false})) == nullptr;
  };
  CHECK(
      legal("tile_m=64 tile_n=128 tile_k=32 warp_m=64 warp_n=32 stages=3 copy=1 order=1 "
            "fragments=1 promotion=2"));
  CHECK_FALSE(
      legal("tile_m=128 tile_n=128 tile_k=16 warp_m=64 warp_n=64 stages=3 copy=1 order=1 "
            "fragments=2 promotion=1"));
  CHECK_FALSE(
      legal("tile_m=128 tile_n=256 tile_k=32 warp_m=128 warp_n=32 stages=3 copy=1 "
            "fragments=2 promotion=1"));
  CHECK_FALSE(
      legal("tile_m=128 tile_n=64 tile_k=32 warp_m=64 warp_n=32 stages=3 copy=1 order=1 "
            "fragments=2 promotion=2"));
}

TEST_CASE("tiles end with C where they would stick out of it, and not elsewhere") {
  const auto worthwhile = [](const Shape& shape, const char* tile) {
    const Problem problem = make_problem(shape, DataType::bf16, *parse_layout("tnt"));
    const Strategy& strategy = **find_strategy("wgmma_tma");
    return strategy.worthwhile(spec_for(strategy, *parse_tile(tile), problem, {9, 0}), problem);
  };
  constexpr auto kEdge = "tile_m=128 tile_n=64 tile_k=64 stages=3 consumers=2 edge=1";
  CHECK(worthwhile({1000, 512, 64}, kEdge));
  CHECK(worthwhile({1024, 504, 64}, kEdge));
  CHECK_FALSE(worthwhile({1000, 500, 64}, kEdge));  // columns beyond the last
  CHECK_FALSE(worthwhile({1024, 512, 64}, kEdge));
  CHECK_FALSE(worthwhile({100, 512, 64}, kEdge));  // its one tile is no smaller for that
  CHECK(worthwhile({1000, 512, 64}, "tile_m=128 tile_n=64 tile_k=64 stages=3 consumers=2"));
  constexpr auto kPairs = "tile_m=128 tile_n=64 tile_k=64 stages=3 consumers=2 cluster_m=2 edge=1";
  CHECK(worthwhile({384, 512, 64}, kPairs));
  CHECK_FALSE(worthwhile({512, 512, 64}, kPairs));
  // Few rows end with C by themselves.
  constexpr auto kFew = "tile_m=64 tile_n=64 tile_k=64 stages=3 consumers=1 edge=1";
  CHECK_FALSE(worthwhile({100, 512, 64}, kFew));
  CHECK(worthwhile({100, 504, 64}, kFew));
}

TEST_CASE("8-bit operands: on Hopper's tensor cores, with promoted sums unless asked otherwise") {
  for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
    const Problem problem = make_problem({64, 64, 64}, type, *parse_layout("tnt"));
    for (const Strategy* strategy : strategies()) {
      CAPTURE(strategy->name());
      const bool on_wgmma =
          strategy->name() == "wgmma_tma" || strategy->name() == "wgmma_split_k" ||
          strategy->name() == "wgmma_stream_k" || strategy->name() == "wgmma_misaligned";
      CHECK(strategy->supports(problem, {9, 0, false}).has_value() == on_wgmma);
      CHECK_FALSE(strategy->supports(problem, {8, 9, false}));
    }
  }
  const auto broken = [](std::string_view tile, MathMode math, const KernelTraits& traits) {
    KernelSpec spec{*find_strategy("wgmma_tma"), *parse_tile(tile), traits, DataType::e4m3};
    spec.math = math;
    const Rule* rule = broken_rule(spec, representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  constexpr KernelTraits kTraits{true, false, 16, 16, 8};
  constexpr auto kTile = "tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2";
  CHECK(broken(kTile, MathMode::ieee, kTraits).empty());
  CHECK(broken(kTile, MathMode::fast_accum, kTraits).empty());
  CHECK(broken(kTile, MathMode::ieee, {true, false, 8, 16, 8}) == "operands that 16 bytes divide");
  constexpr auto kDeep = "tile_m=128 tile_n=128 tile_k=256 stages=2 consumers=2";
  CHECK(broken(kDeep, MathMode::ieee, kTraits) ==
        "sums of 8-bit products are promoted every 128 of k");
  CHECK(broken(kDeep, MathMode::fast_accum, kTraits).empty());
  // Twice the sums.
  constexpr auto kWide = "tile_m=128 tile_n=256 tile_k=128 stages=3 consumers=2";
  CHECK(broken(kWide, MathMode::ieee, kTraits) == "sums fit a consumer's registers");
  CHECK(broken(kWide, MathMode::fast_accum, kTraits).empty());
  CHECK(broken("tile_m=128 tile_n=176 tile_k=128 stages=4 consumers=2", MathMode::ieee, kTraits)
            .empty());
}

TEST_CASE("scales of blocks: a stage is a block of k, and tiles keep blocks of lines whole") {
  const auto broken = [](std::string_view tile, Scale scale) {
    KernelSpec spec{*find_strategy("wgmma_tma"), *parse_tile(tile),
                    KernelTraits{true, false, 16, 16, 8, {kNoBias, kNoActivation, scale}},
                    DataType::e4m3};
    const Rule* rule = broken_rule(spec, representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  constexpr std::string_view kWhole = "tiles do not cut blocks of 128 lines that have a scale";
  for (const Scale scale : {kScale1x128, kScale1x128By128x128, kScale128x128By1x128}) {
    CHECK(broken("tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2", scale).empty());
  }
  constexpr auto kNarrow = "tile_m=64 tile_n=96 tile_k=128 stages=4 consumers=1";
  CHECK(broken(kNarrow, kScale1x128By128x128) == kWhole);
  CHECK(broken(kNarrow, kScale128x128By1x128).empty());
  CHECK(broken(kNarrow, kScale1x128).empty());
  constexpr auto kLow = "tile_m=96 tile_n=128 tile_k=128 stages=4 consumers=2 exchange=1";
  CHECK(broken(kLow, kScale128x128By1x128) == kWhole);
  CHECK(broken(kLow, kScale1x128By128x128).empty());
}

TEST_CASE("tiles with an edge end with C where that cuts no block of lines that has a scale") {
  const auto worthwhile = [](const Shape& shape, Scale scale) {
    Problem problem = make_problem(shape, DataType::e4m3, *parse_layout("tnt"));
    problem.epilogue.scale = scale;
    const Strategy& strategy = **find_strategy("wgmma_tma");
    const auto tile = parse_tile("tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2 edge=1");
    const KernelSpec spec = spec_for(strategy, *tile, problem, {9, 0});
    CHECK(broken_rule(spec, representative_device({9, 0, false})) == nullptr);
    return strategy.worthwhile(spec, problem);
  };
  CHECK(worthwhile({200, 256, 256}, kScale1x128By128x128));
  CHECK_FALSE(worthwhile({256, 200, 256}, kScale1x128By128x128));
  CHECK_FALSE(worthwhile({200, 256, 256}, kScale128x128By1x128));
  CHECK(worthwhile({256, 200, 256}, kScale128x128By1x128));
  CHECK(worthwhile({200, 256, 256}, kScale1x128));
  CHECK(worthwhile({256, 200, 256}, kScale1x128));
}

TEST_CASE("for other rows than it was chosen for a tile ends with C, where that helps") {
  const auto rows_outside = [](const char* strategy_name, const char* tile, const Shape& shape,
                               Scale scale = kNoScale) {
    const DataType type = scale == kNoScale ? DataType::bf16 : DataType::e4m3;
    Problem problem = make_problem(shape, type, *parse_layout("tnt"));
    problem.epilogue.scale = scale;
    const Strategy& strategy = **find_strategy(strategy_name);
    const TileConfig other = strategy.for_other_rows(*parse_tile(tile), problem);
    TileConfig same = other;
    same.edge = 0;
    CHECK(same == *parse_tile(tile));
    CHECK((other.edge != 0) ==
          (strategy.slow_rows(other, problem, false) < strategy.slow_rows(same, problem, false)));
    CHECK(strategy.slow_rows(other, problem, true) == strategy.slow_rows(same, problem, true));
    return strategy.slow_rows(other, problem, false);
  };
  constexpr auto kLarge = "tile_m=128 tile_n=128 tile_k=128 stages=4 consumers=2";
  CHECK(rows_outside("wgmma_tma", kLarge, {256, 512, 512}) == 0);
  CHECK(rows_outside("wgmma_tma", kLarge, {200, 512, 512}) == 0);
  CHECK(rows_outside("wgmma_tma", kLarge, {201, 512, 512}) == 7);
  CHECK(rows_outside("wgmma_tma", kLarge, {128, 512, 512}) == 0);
  CHECK(rows_outside("wgmma_tma", kLarge, {100, 512, 512}) == 28);  // there is no other tile
  // Columns that an edge would have beyond the last.
  CHECK(rows_outside("wgmma_tma", kLarge, {200, 500, 512}) == 56);
  // Sums that lie in slots by tile, and those that another tile has rounded otherwise.
  CHECK(rows_outside("wgmma_split_k", kLarge, {200, 512, 512}) == 56);
  CHECK(rows_outside("wgmma_stream_k", kLarge, {200, 512, 512}) == 56);
  constexpr auto kFew = "tile_m=64 tile_n=128 tile_k=128 stages=4 consumers=1";
  CHECK(rows_outside("wgmma_tma", kFew, {100, 512, 512}) == 0);
  CHECK(rows_outside("wgmma_tma", kFew, {100, 512, 512}, kScalePerRow) == 0);
  // TMA copies scales from a multiple of 16 bytes on.
  CHECK(rows_outside("wgmma_tma", kFew, {101, 512, 512}, kScale1x128By128x128) == 3);
  CHECK(rows_outside("wgmma_tma", kLarge, {200, 512, 512}, kScale1x128By128x128) == 0);
  CHECK(rows_outside("wgmma_tma", kLarge, {200, 512, 512}, kScale128x128By1x128) == 56);
  CHECK(rows_outside("multistage", "tile_m=128 tile_n=128", {200, 512, 512}) == 0);
}

TEST_CASE("sums of wgmma that leave too few registers for what stores them") {
  const auto fits = [](std::string_view tile, int vector_c, Bias bias = kNoBias) {
    KernelSpec spec{*find_strategy("wgmma_tma"), *parse_tile(tile),
                    KernelTraits{true, false, 8, 8, vector_c}, DataType::bf16};
    spec.traits.epilogue.bias = bias;
    const Rule* rule = broken_rule(spec, representative_device({9, 0, false}));
    if (rule != nullptr) CHECK(rule->name == "sums fit a consumer's registers");
    return rule == nullptr;
  };
  constexpr auto kPlain = "tile_m=128 tile_n=192 tile_k=64 stages=4 consumers=2 schedule=1";
  constexpr auto kNarrow = "tile_m=128 tile_n=144 tile_k=64 stages=4 consumers=2 schedule=1";
  CHECK(fits(kPlain, 8));
  CHECK(fits(kPlain, 8, kBiasPerColumn));
  CHECK(fits(kPlain, 1));
  CHECK(fits(kNarrow, 8));
  CHECK_FALSE(fits(kNarrow, 1));  // through a slab
  CHECK_FALSE(
      fits("tile_m=128 tile_n=192 tile_k=64 stages=4 consumers=2 schedule=1 exchange=1", 8));
  constexpr auto kExchanged =
      "tile_m=176 tile_n=128 tile_k=64 stages=4 consumers=2 schedule=1 exchange=1";
  CHECK(fits(kExchanged, 8));
  CHECK_FALSE(fits(kExchanged, 8, kBiasPerColumn));
}

TEST_CASE("sm_75 takes two stages, and registers for what is on its way") {
  const auto broken = [](std::string_view tile) {
    const KernelSpec spec{*find_strategy("mma_multistage"), *parse_tile(tile),
                          KernelTraits{true, false, 8, 8, 8}, DataType::f16};
    const Rule* rule = broken_rule(spec, representative_device({7, 5, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  CHECK(broken("tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=2 fragments=1").empty());
  CHECK(broken("tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=3 fragments=1") ==
        "2 stages through registers");
  CHECK(broken("tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=2 fragments=2") ==
        "registers fit a thread and its share of a tile on its way");
  CHECK(broken("tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=3 copy=1 fragments=1") ==
        "cp.async from sm_80 on, registers before it");
}

TEST_CASE("mma_split_k names what is wrong with a tile") {
  struct Wrong {
    std::string_view parts;
    std::string_view rule;
    Arch arch = {9, 0, false};
  };
  constexpr Wrong kWrong[] = {
      {"groups=0 slices=2", "at least 1 group and 1 slice"},
      {"groups=2 slices=0", "at least 1 group and 1 slice"},
      {"groups=1 slices=1", "k is split"},
      {"groups=1 slices=2 reduction=1", "no atomic additions"},
      {"groups=1 slices=2 reduction=3", "a known reduction"},
      {"groups=16 slices=1", "a barrier for each group"},
      {"groups=2 slices=1 reduction=2", "no reduction without slices"},
      {"groups=1 slices=9 reduction=2", "a cluster has at most 8 blocks"},
      {"groups=1 slices=2 reduction=2", "clusters need sm_90", {8, 0, false}},
      {"groups=8 slices=1 stages=5", "shared memory fits a block"},
  };
  for (const Wrong& wrong : kWrong) {
    CAPTURE(wrong.parts);
    std::string text =
        "tile_m=64 tile_n=64 tile_k=64 warp_m=32 warp_n=64 copy=1 order=1 fragments=1 ";
    if (wrong.parts.find("stages") == std::string_view::npos) text += "stages=3 ";
    const KernelSpec spec{*find_strategy("mma_split_k"),
                          *parse_tile(text + std::string(wrong.parts)),
                          {true, false, 8, 8, 8},
                          DataType::bf16};
    const Rule* rule = broken_rule(spec, representative_device(wrong.arch));
    REQUIRE(rule != nullptr);
    CHECK(rule->name == wrong.rule);
    CHECK_FALSE(rule->reason.empty());
  }
}

// Each rule of the early rungs, by a tile that breaks it and no earlier one.
TEST_CASE("the early rungs name what is wrong with a tile") {
  struct Wrong {
    std::string_view strategy;
    std::string_view tile;
    std::string_view rule;
  };
  constexpr Wrong kWrong[] = {
      {"naive", "tile_m=4 tile_n=32", "block tiles of at least 8 x 8"},
      {"naive", "tile_m=8 tile_n=9", "a block is made of whole warps"},
      {"naive", "tile_m=64 tile_n=64", "at most 1024 threads per block"},
      {"smem_tile", "tile_m=16 tile_n=32 tile_k=8", "tile_m equals tile_n"},
      {"smem_tile", "tile_m=16 tile_n=16", "tile_k at least 1"},
      {"smem_tile", "tile_m=16 tile_n=16 tile_k=1408", "shared memory fits a block"},
      {"thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=7", "tile_m divisible by thread_m"},
      {"thread_tile_2d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=12",
       "tile_n divisible by thread_n"},
      {"register_cache", "tile_m=256 tile_n=256 tile_k=8 thread_m=16 thread_n=16",
       "registers fit a thread"},
      {"vectorized", "tile_m=64 tile_n=64 tile_k=8 thread_m=8 thread_n=8", "vector is 2 or 4"},
      {"vectorized", "tile_m=60 tile_n=64 tile_k=8 thread_m=4 thread_n=4 vector=4",
       "a block is made of whole warps"},
      {"vectorized", "tile_m=96 tile_n=64 tile_k=8 thread_m=6 thread_n=8 vector=4",
       "thread tiles made of whole vectors"},
      {"vectorized", "tile_m=32 tile_n=256 tile_k=8 thread_m=4 thread_n=8 vector=4",
       "threads divide the vectors of a tile of A"},
      {"warp_tile",
       "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 iterations_m=4 "
       "iterations_n=1",
       "iterations split thread tiles into subtiles of whole vectors"},
  };
  for (const Wrong& wrong : kWrong) {
    CAPTURE(wrong.strategy);
    CAPTURE(wrong.tile);
    const KernelSpec spec{*find_strategy(wrong.strategy), *parse_tile(wrong.tile),
                          KernelTraits{true, true, 4, 4, 4}, DataType::f32};
    const Rule* rule = broken_rule(spec, representative_device({8, 0, false}));
    REQUIRE(rule != nullptr);
    CHECK(rule->name == wrong.rule);
    CHECK_FALSE(rule->reason.empty());
  }
}

TEST_CASE("kernel names are identifiers, and differ where the tile does but for launch facts") {
  std::mt19937 random(3);
  for (const Strategy* strategy : strategies()) {
    const SearchSpace space = *default_search_space(*strategy);
    std::set<std::string> names;
    std::set<std::string> candidates;
    std::set<std::string> tiles;
    std::set<std::string> of_code;
    for (int i = 0; i < rounds(2000); ++i) {
      const auto index = std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random);
      const KernelSpec spec{strategy, space.at(index), {}, DataType::f32};
      const std::string name = kernel_name(spec);
      names.insert(name);
      candidates.insert(candidate_name(spec));
      tiles.insert(to_string(spec.tile));
      of_code.insert(to_string(without_launch_facts(spec.tile)));
      for (const char c : name)
        CHECK((std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'));
    }
    CHECK(names.size() == of_code.size());
    CHECK(candidates.size() == tiles.size());
  }
}

TEST_CASE("strategies refuse what they cannot compute") {
  Problem half = make_problem({64, 64, 64}, DataType::f16);
  const Problem single = make_problem({64, 64, 64});
  for (const Strategy* strategy : strategies()) {
    CAPTURE(strategy->name());
    const bool takes_half = strategy->supports(half, {9, 0, false}).has_value();
    constexpr std::array<std::string_view, 5> kOfF32 = {"wgmma_planes", "wgmma_k_major",
                                                        "wgmma_direct_tf32", "wgmma_direct_split_k",
                                                        "wgmma_tf32_planes"};
    const bool of_f32 = std::find(kOfF32.begin(), kOfF32.end(), strategy->name()) != kOfF32.end();
    CHECK(takes_half == (strategy->takes_types() && !of_f32));
    CHECK(strategy->supports(single, {8, 0, false}).has_value() != strategy->takes_types());
  }
  Problem bf16 = half;
  bf16.type = DataType::bf16;
  for (const char* name : {"wgmma_tma", "wgmma_split_k", "wgmma_misaligned", "wgmma_direct"}) {
    const Strategy& strategy = **find_strategy(name);
    CHECK(strategy.supports(bf16, {9, 0, false}));
    CHECK(to_string(strategy.code_arch({9, 0, false})) == "sm_90a");
    CHECK_FALSE(strategy.supports(bf16, {8, 9, false}));
    CHECK_FALSE(strategy.supports(bf16, {10, 0, false}));
  }
  for (const char* layout : {"tnt", "ttt", "nnt", "ntt"}) {
    Problem tf32 = make_problem({64, 64, 64}, DataType::f32, *parse_layout(layout));
    tf32.math = MathMode::tf32;
    const bool along_k = tf32.layout == *parse_layout("tnt");
    CHECK((*find_strategy("wgmma_tma"))->supports(tf32, {9, 0, false}).has_value() == along_k);
    CHECK_FALSE((*find_strategy("wgmma_misaligned"))->supports(tf32, {9, 0, false}));
    for (const char* name : {"wgmma_k_major", "wgmma_direct_tf32", "wgmma_direct_split_k"}) {
      CHECK((*find_strategy(name))->supports(tf32, {9, 0, false}));
      CHECK_FALSE((*find_strategy(name))->supports(tf32, {8, 0, false}));
    }
    for (const MathMode math : {MathMode::bf16x6, MathMode::bf16x9}) {
      tf32.math = math;
      CHECK((*find_strategy("wgmma_planes"))->supports(tf32, {9, 0, false}));
      CHECK_FALSE((*find_strategy("wgmma_planes"))->supports(tf32, {8, 0, false}));
    }
  }
  for (const char* name : {"wmma", "mma_multistage", "mma_misaligned"}) {
    CAPTURE(name);
    const Strategy& strategy = **find_strategy(name);
    CHECK(strategy.supports(half, {7, 5, false}));
    CHECK_FALSE(strategy.supports(bf16, {7, 5, false}));
    CHECK(strategy.supports(bf16, {8, 0, false}));
  }
  Problem rounded = single;
  rounded.math = MathMode::f16;
  CHECK((*find_strategy("wmma"))->supports(rounded, {7, 5, false}));
  CHECK_FALSE((*find_strategy("mma_multistage"))->supports(rounded, {8, 0, false}));
  CHECK_FALSE((*find_strategy("multistage"))->supports(single, {7, 5, false}));
  CHECK((*find_strategy("double_buffer"))->supports(single, {7, 5, false}));
}

TEST_CASE("a launch of more blocks than a grid can have is not cut to one that can be") {
  const KernelSpec spec{*find_strategy("gemv"),
                        *parse_tile("tile_m=1 tile_n=1 thread_m=1 thread_n=1 warps=4 unroll=8 "
                                    "copy=2 fragments=2"),
                        KernelTraits{true, true, 1, 1, 1}, DataType::f32};
  const auto fits = [&](int64_t size) {
    const LaunchPlan plan = spec.strategy->launch_plan(spec, make_problem({size, size, 16}));
    CHECK((plan.launches.front().config.grid.x <= 2147483647U) == fits_grids(plan));
    return fits_grids(plan);
  };
  CHECK(fits(46340));
  CHECK_FALSE(fits(46341));
  CHECK_FALSE(fits(65537));
}

TEST_CASE("skinny reads the short operand in vectors only where each slice begins at one") {
  const auto broken = [](const std::string& rest, int vector) {
    const KernelSpec spec{*find_strategy("skinny"),
                          *parse_tile("tile_m=32 tile_n=8 thread_m=1 thread_n=8 fragments=1 "
                                      "unroll=1 " +
                                      rest),
                          KernelTraits{true, false, vector, vector, 4}, DataType::f32};
    const Rule* rule = broken_rule(spec, representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  constexpr std::string_view kRule = "the k of a chunk divisible by what is copied at once";
  CHECK(broken("tile_k=40 stages=7 copy=1 slices=2 warps=1", 4) == kRule);
  CHECK(broken("tile_k=6 stages=0 copy=2 warps=2", 4) == kRule);
  CHECK(broken("tile_k=40 stages=7 copy=1 slices=2 warps=1", 1).empty());
  CHECK(broken("tile_k=40 stages=7 copy=1 slices=2 warps=4", 4).empty());
}

TEST_CASE("double_buffer names what is wrong with a copy") {
  const auto broken = [](const std::string& rest, Arch arch) {
    const KernelSpec spec{*find_strategy("double_buffer"),
                          *parse_tile("tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 "
                                      "thread_n=4 lanes=1 fragments=1 " +
                                      rest),
                          KernelTraits{true, true, 4, 4, 4}, DataType::f32};
    const Rule* rule = broken_rule(spec, representative_device(arch));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  CHECK(broken("tile_m=64 copy=0", {7, 5, false}).empty());
  CHECK(broken("tile_m=64 copy=1", {8, 0, false}).empty());
  CHECK(broken("tile_m=64 copy=1", {7, 5, false}) == "copies by cp.async need sm_80");
  CHECK(broken("tile_m=64 copy=2", {8, 0, false}) == "a known copy");
  // 192 vectors of A for 384 threads: whole warps may copy them, through registers all must.
  CHECK(broken("tile_m=96 copy=0", {8, 0, false}) ==
        "threads or warps divide the copies of a tile");
  CHECK(broken("tile_m=96 copy=1", {8, 0, false}).empty());
}

}  // namespace
}  // namespace gemmtune::codegen
