#include "codegen/strategy.h"

#include <fmt/format.h>

#include <algorithm>

namespace gemmtune::codegen {

int64_t Strategy::block_depth(const KernelSpec&, const Problem& problem) const {
  return problem.shape.k;
}

bool Strategy::worthwhile(const KernelSpec&, const Problem&) const {
  return true;
}

bool Strategy::deterministic(const KernelSpec&) const {
  return true;
}

LoadBytes Strategy::loads(const KernelSpec& spec) const {
  // A multiply-add's share of a tile of C, m x n: a word of A serves n of them, one of B serves m.
  const auto of_tile = [&](int m, int n) {
    return size_bytes(spec.type) * (1.0 / std::max(1, m) + 1.0 / std::max(1, n));
  };
  const double thread = of_tile(spec.tile.thread_m, spec.tile.thread_n);
  if (smem_bytes(spec) == 0) return {thread, 0};
  return {of_tile(spec.tile.tile_m, spec.tile.tile_n), thread};
}

std::string Strategy::launch_notes(const KernelSpec& spec) const {
  return fmt::format(
      "{}<<<grid, {}, {}>>>(args)\n"
      "grid = ceil(m / {}) * ceil(n / {}) * batch; args is gemmtune::GemmArgs, below.\n",
      kernel_name(spec), threads(spec.tile), smem_bytes(spec), spec.tile.tile_m, spec.tile.tile_n);
}

std::vector<EntryPoint> Strategy::entry_points(const KernelSpec& spec) const {
  return {{"", "run", threads(spec.tile), "kThreads", spec.tile.min_blocks}};
}

}  // namespace gemmtune::codegen
