#include "codegen/wgmma_direct_strategy.h"

#include <array>

#include "codegen/tiling.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 10> kDirectParameters = {
    "tile_m",    "tile_n",    "tile_k",    "stages",
    "consumers", "cluster_m", "cluster_n", "persistent_blocks",
    "raster",    "edge"};

// The place of A's map among the main kernel's arguments; B's is behind it.
constexpr int kFirstMap = 1;

// The rules below are of no other strategies.
const WgmmaDirectStrategy& direct(const KernelSpec& spec) {
  return static_cast<const WgmmaDirectStrategy&>(*spec.strategy);
}

constexpr std::array kDirectRules = {
    Rule{"clusters share what TMA copies", "threads store to their own block",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return (direct(in.spec).loads_a(in.spec) ? t.cluster_n : t.cluster_m) <= 1;
         }},
    Rule{"sums fit a consumer's registers beside those of the producers", "they must not spill",
         [](const RuleInput& in) {
           return wgmma::consumer_registers(in.spec) <= direct(in.spec).registers(in.spec).consumer;
         }},
    Rule{"sums of one product fit the registers that a block starts with",
         "the assembler knows no others",
         [](const RuleInput& in) {
           return wgmma::registers_of_product(in.spec) <=
                  direct(in.spec).registers(in.spec).at_start;
         }},
};

// Of the kernel's parameters or arguments: there is no map of what threads load.
template <class Each>
void erase_map(bool of_a, std::vector<Each>& each) {
  each.erase(each.begin() + kFirstMap + (of_a ? 0 : 1));
}

}  // namespace

WgmmaDirectStrategy::WgmmaDirectStrategy(std::span<const Rule> own)
    : WgmmaStrategy(tiling::joined({own, kDirectRules})) {}

std::span<const std::string_view> WgmmaDirectStrategy::parameters() const {
  return kDirectParameters;
}

std::vector<EntryPoint> WgmmaDirectStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
  erase_map(loads_a(spec), entries.front().parameters);
  return entries;
}

LaunchPlan WgmmaDirectStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
  erase_map(loads_a(spec), plan.launches.front().arguments);
  return plan;
}

}  // namespace gemmtune::codegen
