#include "codegen/registry.h"
#include "codegen/wgmma_direct_tf32_strategy.h"

namespace gemmtune::codegen {
namespace {

class WgmmaDirectTf32 final : public WgmmaDirectTf32Strategy {
 public:
  std::string_view name() const override { return "wgmma_direct_tf32"; }
  std::string_view summary() const override {
    return "tf32 in any layout: producer warps load an operand whose k is not contiguous, TMA "
           "copies the other";
  }
  std::string_view template_file() const override { return "wgmma_direct_tf32.cuh"; }
  std::string_view template_name() const override { return "WgmmaDirectTf32"; }
};

}  // namespace

const Strategy& wgmma_direct_tf32() {
  static const WgmmaDirectTf32 strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
