#include <algorithm>
#include <array>

#include "codegen/mma_rules.h"
#include "codegen/registry.h"
#include "codegen/simt_rules.h"

namespace gemmtune::codegen {
namespace {

constexpr int kBuffers = 2;
constexpr int kSharedBytes = 2;  // an element
constexpr int kRowPadding = 8;   // elements (padded_rows.cuh)
constexpr int kPiece = 16;       // rows, columns and depth of a product
constexpr int kFragmentRegisters = 4;
// Pointers, edges and counters that stay live through the main loop, at least.
constexpr int kOverheadRegisters = 16;

constexpr std::array<std::string_view, 7> kParameters = {"tile_m", "tile_n",     "tile_k", "warp_m",
                                                         "warp_n", "min_blocks", "raster"};

// Elements of an operand's shared tile, each line padded.
int padded_elements(int tile_mn, int tile_k, bool contiguous_k) {
  return contiguous_k ? tile_mn * (tile_k + kRowPadding) : tile_k * (tile_mn + kRowPadding);
}

// Elements that an access moves where the alignment allows `aligned`: fewer where threads would go
// without one (half_register_loader.cuh).
int shared_out_vector(int elements, int threads, int aligned) {
  while (aligned > 2 && elements / aligned < threads) aligned /= 2;
  return aligned;
}

class Wmma final : public Strategy {
 public:
  Wmma() : rules_(mma::rules_without_pipeline()) {}

  std::string_view name() const override { return "wmma"; }
  std::string_view summary() const override {
    return "f16, bf16 and f32 rounded to f16 on tensor cores (nvcuda::wmma 16x16x16); block, warp "
           "and fragment tiles, two padded shared-memory buffers filled through registers";
  }
  std::string_view template_file() const override { return "wmma.cuh"; }
  std::string_view template_name() const override { return "Wmma"; }
  bool takes_types() const override { return true; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    if (problem.type == DataType::f32 && problem.math != MathMode::f16) {
      return make_error(ErrorKind::unsupported, "computes f32 with --math f16 only");
    }
    const bool f16 = problem.math == MathMode::f16;
    return mma::multiplies(f16 ? DataType::f16 : problem.type, problem, arch);
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    KernelTraits traits = spec.traits;
    traits.vector_a = shared_out_vector(t.tile_m * t.tile_k, threads(t), traits.vector_a);
    traits.vector_b = shared_out_vector(t.tile_n * t.tile_k, threads(t), traits.vector_b);
    return traits;
  }

  int threads(const TileConfig& tile) const override { return mma::threads(tile); }

  int smem_bytes(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    const int buffer = padded_elements(t.tile_m, t.tile_k, spec.traits.a_row_major) +
                       padded_elements(t.tile_n, t.tile_k, !spec.traits.b_row_major);
    return std::max(kBuffers * buffer * kSharedBytes, mma::slabs_bytes(t, spec.accumulator));
  }

  int estimated_registers(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    const int sums = t.warp_m * t.warp_n / (spec.accumulator == DataType::f16 ? 64 : 32);
    const int fragments = (t.warp_m / kPiece + 1) * kFragmentRegisters;
    return sums + fragments + mma::held_registers(spec) + kOverheadRegisters;
  }

  LoadBytes loads(const KernelSpec& spec) const override { return mma::loads(spec); }
  MainloopCost mainloop(const KernelSpec& spec, const DeviceSpec& device) const override {
    return mma::mainloop(spec, device);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& wmma() {
  static const Wmma strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
