#include <array>

#include "codegen/strategies/double_buffer.h"
#include "codegen/strategies/gemv.h"
#include "codegen/strategies/mma_misaligned.h"
#include "codegen/strategies/mma_multistage.h"
#include "codegen/strategies/mma_split_k.h"
#include "codegen/strategies/mma_stream_k.h"
#include "codegen/strategies/multistage.h"
#include "codegen/strategies/naive.h"
#include "codegen/strategies/register_cache.h"
#include "codegen/strategies/skinny.h"
#include "codegen/strategies/sliced_k.h"
#include "codegen/strategies/smem_tile.h"
#include "codegen/strategies/split_k.h"
#include "codegen/strategies/thread_tile_1d.h"
#include "codegen/strategies/thread_tile_2d.h"
#include "codegen/strategies/vectorized.h"
#include "codegen/strategies/warp_tile.h"
#include "codegen/strategies/wmma.h"
#include "codegen/strategy.h"
#include "core/names.h"

namespace gemmtune::codegen {

std::span<const Strategy* const> strategies() {
  static const std::array<const Strategy*, 18> all = {
      &naive(),          &smem_tile(),   &thread_tile_1d(), &thread_tile_2d(), &register_cache(),
      &vectorized(),     &warp_tile(),   &double_buffer(),  &multistage(),     &split_k(),
      &sliced_k(),       &gemv(),        &skinny(),         &wmma(),           &mma_multistage(),
      &mma_misaligned(), &mma_split_k(), &mma_stream_k(),
  };
  return all;
}

Expected<const Strategy*> find_strategy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy* strategy : strategies()) {
    if (strategy->name() == name) return strategy;
    names.push_back(strategy->name());
  }
  return usage_error(unknown_name_message("strategy", name, names));
}

const Rule* broken_rule(const KernelSpec& spec, const DeviceSpec& device) {
  for (const Rule& rule : spec.strategy->rules()) {
    if (!rule.holds({spec, device})) return &rule;
  }
  return nullptr;
}

}  // namespace gemmtune::codegen
