#include "ptxsim/isa/wgmma_layout.h"

#include "ptxsim/machine/tensor_box.h"

namespace gemmtune::ptxsim {

WgmmaDescriptor unpack_descriptor(uint64_t bits) {
  static constexpr uint32_t kSwizzles[] = {0, 128, 64, 32};
  const auto field = [bits](int from, int width) {
    return static_cast<uint32_t>(bits >> from & ((uint64_t{1} << width) - 1));
  };
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3),
          kSwizzles[field(62, 2)]};
}

namespace {

uint32_t k_major(const WgmmaDescriptor& d, uint32_t mn, uint32_t c) {
  const uint32_t group = mn / 8 * d.stride;
  return d.swizzle_bytes == 0 ? group + mn % 8 * 16 + c * d.leading
                              : group + mn % 8 * d.swizzle_bytes + c * 16;
}

uint32_t mn_major(const WgmmaDescriptor& d, uint32_t k, uint32_t c) {
  if (d.swizzle_bytes == 0) return k / 8 * d.leading + k % 8 * 16 + c * d.stride;
  const uint32_t wide = d.swizzle_bytes / 16;
  return k / 8 * d.stride + k % 8 * d.swizzle_bytes + c % wide * 16 + c / wide * d.leading;
}

}  // namespace

void chunk_addresses(const WgmmaPanel& panel, std::span<uint32_t> out) {
  const WgmmaDescriptor& d = panel.descriptor;
  size_t i = 0;
  if (panel.mn_major) {
    for (uint32_t k = 0; k < panel.k(); ++k) {
      for (uint32_t c = panel.first / 8; c < (panel.first + panel.count) / 8; ++c) {
        out[i++] = swizzled(d.address + mn_major(d, k, c), d.swizzle_bytes);
      }
    }
    return;
  }
  for (uint32_t mn = panel.first; mn < panel.first + panel.count; ++mn) {
    for (uint32_t c = 0; c < 2; ++c) {
      out[i++] = swizzled(d.address + k_major(d, mn, c), d.swizzle_bytes);
    }
  }
}

}  // namespace gemmtune::ptxsim
