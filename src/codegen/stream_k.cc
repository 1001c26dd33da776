#include "codegen/stream_k.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace gemmtune::codegen::stream_k {
namespace {

constexpr int kMostSharing = 1024;
constexpr int kLeastTileK = 16;
static_assert((2 * kMostSharing - 1) * (kMostK / kLeastTileK) <= std::numeric_limits<int>::max());

constexpr std::array kRules = {
    Rule{"at most 1024 sharing blocks", "k tiles are counted in an int",
         [](const RuleInput& in) { return in.spec.tile.sharing_blocks <= kMostSharing; }},
    Rule{"tile_k of at least 16", "k tiles are counted in an int",
         [](const RuleInput& in) { return in.spec.tile.tile_k >= kLeastTileK; }},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

Expected<void> supports(const Problem& problem) {
  if (problem.shape.k > kMostK) {
    return make_error(ErrorKind::unsupported, "computes k up to 2^24");
  }
  return {};
}

GemmArgs extents(const Problem& problem) {
  GemmArgs args;
  args.m = static_cast<int>(problem.shape.m);
  args.n = static_cast<int>(problem.shape.n);
  args.k = static_cast<int>(problem.shape.k);
  args.batch = static_cast<int>(problem.batch);
  return args;
}

std::string preamble(std::string_view declaration) {
  return fmt::format(
      "if (args.k > {}) return cudaErrorInvalidValue;  // k tiles are counted in an int\n{}\n",
      kMostK, declaration);
}

}  // namespace gemmtune::codegen::stream_k
