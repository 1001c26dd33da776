// What the notes of emitted sources say of a launch, evaluated, is what the launch plan has.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <random>
#include <string>

#include "codegen/emitter.h"
#include "codegen/launch_plan.h"
#include "codegen/registry.h"
#include "codegen/source_tokens.h"
#include "codegen/stream_k.h"
#include "random_spec.h"

#include "parts/shared/stream_k_ranges.h"
#include "parts/shared/wgmma_stream_k.h"

namespace gemmtune::codegen {
namespace {

using HostNames = std::map<std::string, int64_t, std::less<>>;

// The value of a formula as BlockCount has it; nothing where it is none.
class Formula {
 public:
  Formula(std::string_view text, const HostNames& names) : text_(text), names_(names) {}

  int64_t value() {
    const int64_t result = choice();
    REQUIRE_MESSAGE(at_ == text_.size(), std::string(text_));
    return result;
  }

 private:
  bool take(std::string_view word) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  int64_t choice() {
    const int64_t condition = comparison();
    if (!take("?")) return condition;
    const int64_t yes = choice();
    REQUIRE_MESSAGE(take(":"), std::string(text_));
    const int64_t no = choice();
    return condition != 0 ? yes : no;
  }
  int64_t comparison() {
    const int64_t left = sum();
    if (take("==")) return left == sum() ? 1 : 0;
    if (take(">")) return left > sum() ? 1 : 0;
    return left;
  }
  int64_t sum() {
    int64_t result = product();
    while (take("+")) result += product();
    return result;
  }
  int64_t product() {
    int64_t result = factor();
    while (true) {
      if (take("*")) {
        result *= factor();
      } else if (take("/")) {
        const int64_t by = factor();
        REQUIRE_MESSAGE(result % by == 0, std::string(text_));
        result /= by;
      } else {
        return result;
      }
    }
  }
  int64_t factor() {
    int64_t result = 0;
    if (take("ceil(")) {
      const int64_t above = product_without_quotient();
      REQUIRE_MESSAGE(take("/"), std::string(text_));
      const int64_t below = factor();
      result = (above + below - 1) / below;
      REQUIRE_MESSAGE(take(")"), std::string(text_));
    } else if (take("min(")) {
      result = choice();
      REQUIRE_MESSAGE(take(","), std::string(text_));
      result = std::min(result, choice());
      REQUIRE_MESSAGE(take(")"), std::string(text_));
    } else if (take("(")) {
      result = choice();
      REQUIRE_MESSAGE(take(")"), std::string(text_));
    } else {
      result = word();
    }
    return result;
  }
  int64_t product_without_quotient() {
    int64_t result = factor();
    while (take("*")) result *= factor();
    return result;
  }
  // A number, or what a name stands for: "m", "ranges.grid()", "ranges.finish_grid(4096)".
  int64_t word() {
    take("");
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
                                  text_[end] == '_' || text_[end] == '.'))
      ++end;
    const bool called = end < text_.size() && end > at_ && text_[end] == '(';
    if (called) end = text_.find(')', at_) + 1;
    const std::string name(text_.substr(at_, end - at_));
    at_ = end;
    REQUIRE_MESSAGE(!name.empty(), std::string(text_));
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) return std::stoll(name);
    const auto found = names_.find(name);
    REQUIRE_MESSAGE(found != names_.end(), (name + " in " + std::string(text_)));
    return found->second;
  }

  std::string_view text_;
  const HostNames& names_;
  size_t at_ = 0;
};

// A problem that agrees with the spec's traits: of any sizes, batches that share operands or not.
Problem problem_of(const KernelSpec& spec, std::mt19937& random) {
  const auto multiple = [&](int of) { return int64_t{of} * (1 + static_cast<int>(random() % 90)); };
  const KernelTraits& t = spec.traits;
  // Every extent is a multiple of what each operand that is contiguous along it needs.
  const int of_k = std::max(t.a_row_major ? t.vector_a : 1, t.b_row_major ? 1 : t.vector_b);
  const int of_m = t.a_row_major ? 1 : t.vector_a;
  const int of_n = std::max(t.b_row_major ? t.vector_b : 1, t.vector_c);
  Problem problem =
      make_problem({multiple(of_m), multiple(of_n), multiple(of_k)}, spec.type,
                   {t.a_row_major ? Order::row_major : Order::column_major,
                    t.b_row_major ? Order::row_major : Order::column_major, Order::row_major});
  problem.accumulator = spec.accumulator;
  problem.math = spec.math;
  problem.result = spec.result;
  problem.epilogue = t.epilogue;
  problem.batch = 1 + static_cast<int>(random() % 3);
  pack(problem);
  problem.lda += t.vector_a * static_cast<int>(random() % 3);
  problem.ldb += t.vector_b * static_cast<int>(random() % 3);
  if (problem.batch > 1) {
    problem.stride_a = problem.lda * (problem.shape.m + problem.shape.k);
    problem.stride_b = problem.ldb * (problem.shape.n + problem.shape.k);
    if (random() % 2 == 0) problem.stride_a = 0;
    if (random() % 2 == 0) problem.stride_b = 0;
  }
  return problem;
}

// What a host program knows.
HostNames names_of(const KernelSpec& spec, const Problem& p, const LaunchPlan& notes) {
  HostNames names = {{"m", p.shape.m},        {"n", p.shape.n},         {"k", p.shape.k},
                     {"batch", p.batch},      {"lda", p.lda},           {"ldb", p.ldb},
                     {"ldc", p.ldc},          {"stride_a", p.stride_a}, {"stride_b", p.stride_b},
                     {"stride_c", p.stride_c}};
  if (spec.tile.sharing_blocks > 0) {
    const GemmArgs args = stream_k::extents(p);
    const StreamKRanges ranges = stream_k_ranges(spec.tile, args);
    names["ranges.grid()"] = ranges.grid();
    names["ranges.slots()"] = ranges.slots();
    const int floats = slot_floats(spec.tile);
    names[fmt::format("ranges.finish_grid({})", floats)] = ranges.finish_grid(floats);
    names["ranges.split_tiles"] = ranges.split_tiles;
    const WgmmaStreamKRanges of_clusters(spec.tile, args);
    names["ranges.busy()"] = of_clusters.busy();
    names["ranges.sharing()"] = of_clusters.sharing();
  }
  for (const Quantity& quantity : notes.quantities)
    names[quantity.name] = Formula(quantity.formula, names).value();
  return names;
}

void check_map(const TensorMapArgument& noted, const TensorMapArgument& map,
               const HostNames& names) {
  const auto value = [&](const std::string& formula) {
    return static_cast<uint64_t>(Formula(formula, names).value());
  };
  CHECK(noted.buffer == map.buffer);
  CHECK(value(noted.offset_formula) == static_cast<uint64_t>(map.offset_bytes));
  for (size_t i = 0; i < 3; ++i) CHECK(value(noted.extent_formulas[i]) == map.config.extent[i]);
  for (size_t i = 0; i < 2; ++i)
    CHECK(value(noted.stride_formulas[i]) == map.config.stride_bytes[i]);
  CHECK(noted.config.dimensions == map.config.dimensions);
  CHECK(noted.config.type == map.config.type);
  for (const size_t i : {0, 2}) CHECK(noted.config.box[i] == map.config.box[i]);
  const std::string& lines = noted.lines_formula;
  CHECK((lines.empty() ? noted.config.box[1] : value(lines)) == map.config.box[1]);
  CHECK(noted.config.swizzle == map.config.swizzle);
  CHECK(noted.config.rounds_to_tf32 == map.config.rounds_to_tf32);
}

// The launches of `notes` whose conditions hold.
std::vector<KernelLaunch> launched(const LaunchPlan& notes, const HostNames& names) {
  std::vector<KernelLaunch> all;
  for (const KernelLaunch& launch : notes.launches) {
    if (launch.condition.empty() || Formula(launch.condition, names).value() != 0)
      all.push_back(launch);
  }
  return all;
}

void check_plan(const LaunchPlan& notes, const LaunchPlan& plan, const HostNames& names) {
  const auto launches = launched(notes, names);
  REQUIRE(launches.size() == plan.launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const KernelLaunch& noted = launches[i];
    const KernelLaunch& launch = plan.launches[i];
    CAPTURE(noted.grid_formula);
    CHECK(noted.entry == launch.entry);
    CHECK(Formula(noted.grid_formula, names).value() == launch.config.grid.x);
    CHECK(noted.config.block == launch.config.block);
    CHECK(noted.config.cluster == launch.config.cluster);
    CHECK(noted.config.dynamic_smem_bytes == launch.config.dynamic_smem_bytes);
    REQUIRE(noted.arguments.size() == launch.arguments.size());
    for (size_t a = 0; a < noted.arguments.size(); ++a) {
      REQUIRE(kind_of(noted.arguments[a]) == kind_of(launch.arguments[a]));
      if (const auto* map = std::get_if<TensorMapArgument>(&noted.arguments[a]))
        check_map(*map, std::get<TensorMapArgument>(launch.arguments[a]), names);
      if (const auto* gemm = std::get_if<GemmArgument>(&noted.arguments[a]))
        CHECK(gemm->raster == std::get<GemmArgument>(launch.arguments[a]).raster);
    }
  }
  const int64_t workspace =
      notes.workspace_formula.empty() ? 0 : Formula(notes.workspace_formula, names).value();
  CHECK(workspace == plan.workspace_bytes);
}

TEST_CASE("the notes of an emitted source are right for every problem") {
  std::mt19937 random(31);
  for (const Strategy* strategy : strategies()) {
    for (const Arch arch : known_archs()) {
      const auto kinds = kinds_of(*strategy, arch);
      for (const Problem& kind : kinds) {
        KernelSpec spec = random_kernel(*strategy, kind, representative_device(arch), random);
        CAPTURE(kernel_name(spec));
        const LaunchPlan notes = noted_plan(spec);
        for (int i = 0; i < 20; ++i) {
          const Problem problem = problem_of(spec, random);
          if (!validate(problem) || !strategy->supports(problem, arch)) continue;
          CAPTURE(key(problem));
          check_plan(notes, strategy->launch_plan(spec, problem), names_of(spec, problem, notes));
        }
      }
    }
  }
}

// What has to stand in the text for a host program that knows nothing else.
TEST_CASE("the notes name types, addresses, order and limits") {
  const auto text_of = [](std::string_view strategy, std::string_view tile, const char* problem,
                          bool swapped = false) {
    const auto spec = parse_spec(strategy, tile, *parse_key(problem), {9, 0, false});
    REQUIRE(spec.has_value());
    return emit_standalone(*spec, swapped);
  };
  const auto has = [](const std::string& text, std::string_view what) {
    CAPTURE(what);
    CHECK(text.find(what) != std::string::npos);
  };
  const std::string planes = text_of(
      "wgmma_planes",
      "tile_m=64 tile_n=160 tile_k=64 stages=6 consumers=1 promotion=2 cluster_m=2 cluster_n=1",
      "f32/f32/bf16x6/tnt/999x1000x1000");
  has(planes, "arg1: CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 at args.workspace,\n");
  has(planes, "arg2: CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 at args.workspace + 6 * entries_a * plane_a");
  has(planes, "cluster of 2 x 1 x 1 blocks");
  has(planes, "First: wgmma_planes_");
  has(planes, "Then: wgmma_planes_");
  has(planes, "entries_a * plane_a + entries_b * plane_b is at most 17179869184.");
  CHECK(planes.find("First: ") < planes.find("Then: "));
  const std::string wide =
      text_of("wgmma_tma", "tile_m=64 tile_n=128 tile_k=64 stages=4 consumers=1",
              "bf16/f32/ieee/tnt/1000x1000x1000/out=f32", true);
  has(wide, "arg3: CU_TENSOR_MAP_DATA_TYPE_FLOAT32 at args.c");
  has(wide, "strides 4 * ldc and");
  has(wide, "and C m x n, f32 row-major.");
  has(wide, "A is m x k, bf16 row-major, B k x n, bf16 column-major,");
  has(wide, "pass your B as A");
  has(wide, "8 elements (16 bytes) of A");
  const std::string integers =
      text_of("wgmma_tma", "tile_m=64 tile_n=128 tile_k=128 stages=4 consumers=1",
              "i8/i32/ieee/tnt/1000x1000x1024");
  has(integers, "arg3: CU_TENSOR_MAP_DATA_TYPE_INT32 at args.c");
  has(integers, "and C m x n, i32 row-major, modulo 2^32, of whole alpha and beta.");
}

}  // namespace
}  // namespace gemmtune::codegen
