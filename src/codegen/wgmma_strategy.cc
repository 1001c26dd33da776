#include "codegen/wgmma_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/tiling.h"

#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 13> kParameters = {
    "tile_m",     "tile_n",   "tile_k",    "stages",    "consumers",
    "schedule",   "exchange", "cluster_m", "cluster_n", "persistent_blocks",
    "min_blocks", "raster",   "edge"};

// Whether several tiles cover an extent of C, and not all of them lie in it.
bool sticks_out(int64_t extent, int tile, int cluster) {
  return extent > tile && extent % (int64_t{tile} * at_least_one(cluster)) != 0;
}
// Whether an edge has tiles end with C that stick out without it.
bool edge_matters(const KernelSpec& spec, const Shape& shape) {
  const TileConfig& t = spec.tile;
  const Scale scale = spec.traits.epilogue.scale;
  const bool end_with_rows =
      ends_with_few_rows(t, spec.strategy->main_traits(spec).a_row_major, spec.traits.vector_c,
                         size_bytes(result_type(spec)), scale);
  return (!end_with_rows && edge_ends_rows(t, scale) &&
          sticks_out(shape.m, t.tile_m, t.cluster_m)) ||
         (edge_ends_columns(t, scale) && sticks_out(shape.n, t.tile_n, t.cluster_n));
}

}  // namespace

WgmmaStrategy::WgmmaStrategy(std::span<const Rule> own)
    : rules_(tiling::joined({own, wgmma::tile_rules(), wgmma::cluster_rules(),
                             wgmma::register_rules(), tiling::limit_rules()})) {}

std::span<const std::string_view> WgmmaStrategy::parameters() const {
  return kParameters;
}

int WgmmaStrategy::threads(const TileConfig& tile) const {
  return wgmma_threads(tile);
}

int WgmmaStrategy::smem_bytes(const KernelSpec& spec) const {
  const TileConfig& t = spec.tile;
  const int stages = wgmma::stages_bytes(spec);
  return stages +
         wgmma_results_bytes(t, spec.traits.vector_c, size_bytes(result_type(spec)), stages,
                             spec.traits.fetches_c) +
         wgmma_barriers_bytes(t);
}

// As the launch gives them to each thread; setmaxnreg shares them out.
int WgmmaStrategy::estimated_registers(const KernelSpec& spec) const {
  return WgmmaRegisters(spec.tile).at_start;
}

int WgmmaStrategy::least_registers(const KernelSpec& spec) const {
  const WgmmaRegisters registers(spec.tile);
  return registers.shared_out() ? registers.at_start : 0;
}

bool WgmmaStrategy::is_geometry(std::string_view parameter) const {
  return parameter != "raster" && parameter != "persistent_blocks" && parameter != "min_blocks";
}

// A persistent grid of more blocks than there are tiles is the grid without it. A tile that ends a
// few columns behind C, as those with an edge do where n is no multiple of their unit, has all of
// its rows stored one column at a time.
bool WgmmaStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  const TileConfig& t = spec.tile;
  return t.persistent_blocks < wgmma::cluster_grid(t, problem).blocks &&
         (t.edge == 0 || (problem.shape.n % kEdgeUnit == 0 && edge_matters(spec, problem.shape)));
}

TileConfig WgmmaStrategy::for_other_rows(const TileConfig& tile, const Problem& problem) const {
  if (!has_parameter(*this, "edge") || problem.shape.n % kEdgeUnit != 0) return tile;
  TileConfig with_edge = tile;
  with_edge.edge = 1;
  const bool helps = slow_rows(with_edge, problem, false) < slow_rows(tile, problem, false);
  return helps ? with_edge : tile;
}

// Of the consumers that take turns, a block with one tile has work for the first.
TileConfig WgmmaStrategy::without_idle_warps(const TileConfig& tile) const {
  if (tile.schedule != kPingPong || tile.persistent_blocks > 0) return tile;
  TileConfig plain = tile;
  plain.schedule = kCooperative;
  plain.consumers = 1;
  return plain;
}

BlockCount WgmmaStrategy::grid(const TileConfig& tile, const Problem& problem) const {
  BlockCount tiles = wgmma::cluster_grid(tile, problem);
  if (tile.persistent_blocks == 0) return tiles;
  return {std::min<int64_t>(tiles.blocks, tile.persistent_blocks),
          fmt::format("min({}, {})", tile.persistent_blocks, tiles.formula)};
}

KernelWork WgmmaStrategy::work(const KernelSpec& spec, const Problem& problem) const {
  return {wgmma::cluster_grid(spec.tile, problem).blocks, problem.shape.k, 1, 0,
          spec.tile.persistent_blocks};
}

std::vector<EntryPoint> WgmmaStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = Strategy::entry_points(spec);
  // Without it the assembler may leave fewer registers to share out than setmaxnreg asks for.
  entries.front().min_blocks = at_least_one(spec.tile.min_blocks);
  entries.front().parameters = {ParameterKind::gemm, ParameterKind::tensor_map,
                                ParameterKind::tensor_map};
  if (wgmma::stores_by_tma(spec)) entries.front().parameters.push_back(ParameterKind::tensor_map);
  return entries;
}

LaunchPlan WgmmaStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  LaunchPlan plan;
  plan.launches.push_back(launch_of(spec, 0, grid(spec.tile, problem)));
  KernelLaunch& launch = plan.launches.front();
  launch.config.cluster.x = static_cast<uint32_t>(cluster_blocks(spec.tile));
  launch.arguments = {GemmArgument{spec.tile.raster},
                      wgmma::map_of_a(spec, problem.shape, place_of_a(spec, problem)),
                      wgmma::map_of_b(spec, problem.shape, place_of_b(spec, problem))};
  if (const auto c = wgmma::map_of_c(spec, problem)) launch.arguments.emplace_back(*c);
  return plan;
}

std::vector<SourceHeader> WgmmaStrategy::written_headers(const KernelSpec& spec) const {
  return {wgmma::instruction(spec)};
}

wgmma::MatrixPlace WgmmaStrategy::place_of_a(const KernelSpec&, const Problem& problem) const {
  return wgmma::place_of_a(problem);
}
wgmma::MatrixPlace WgmmaStrategy::place_of_b(const KernelSpec&, const Problem& problem) const {
  return wgmma::place_of_b(problem);
}

}  // namespace gemmtune::codegen
