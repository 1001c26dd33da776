#include "codegen/registry.h"
#include "codegen/wgmma_strategy.h"

namespace gemmtune::codegen {
namespace {

class WgmmaTma final : public WgmmaStrategy {
 public:
  WgmmaTma() : WgmmaStrategy({}) {}

  std::string_view name() const override { return "wgmma_tma"; }
  std::string_view summary() const override {
    return "f16, bf16, tf32 and 8-bit types on Hopper's tensor cores: TMA copies by a producer "
           "warpgroup, wgmma by consumers, clusters that share tiles";
  }
  std::string_view template_file() const override { return "wgmma_tma.cuh"; }
  std::string_view template_name() const override { return "WgmmaTma"; }
  bool forgets_b() const override { return true; }
};

}  // namespace

const Strategy& wgmma_tma() {
  static const WgmmaTma strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
