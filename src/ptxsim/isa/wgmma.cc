// A warp computes its 16 of the 64 rows, from its own rows of A and all of B.
#include "ptxsim/isa/wgmma.h"

#include <bit>
#include <cstring>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/half.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

WgmmaForm form_of(const Instruction& in) {
  return std::bit_cast<WgmmaForm>(in.immediate);
}

WgmmaPanel a_panel(const Warp& warp, const WgmmaForm& form, uint64_t descriptor) {
  return {unpack_descriptor(descriptor), form.a_mn_major, bytes_of(form.a),
          warp.index() % 4 * kWgmmaRows, kWgmmaRows};
}

WgmmaPanel b_panel(const WgmmaForm& form, uint64_t descriptor) {
  return {unpack_descriptor(descriptor), form.b_mn_major, bytes_of(form.b), 0, form.n};
}

namespace {

// A panel's elements as they are, k x count.
template <class T>
void read_panel(const WgmmaPanel& panel, const std::byte* shared, T (*out)[kMostWgmmaN]) {
  uint32_t addresses[kMostPanelChunks];
  chunk_addresses(panel, addresses);
  const uint32_t* address = addresses;
  constexpr uint32_t kEach = 16 / sizeof(T);
  const std::byte* base = shared - kSharedBase;
  if (panel.mn_major) {
    for (uint32_t k = 0; k < panel.k(); ++k) {
      for (uint32_t mn = 0; mn < panel.count; mn += kEach) {
        std::memcpy(&out[k][mn], base + *address++, 16);
      }
    }
    return;
  }
  for (uint32_t mn = 0; mn < panel.count; ++mn) {
    for (uint32_t k = 0; k < panel.k(); k += kEach) {
      T chunk[kEach];
      std::memcpy(chunk, base + *address++, 16);
      for (uint32_t i = 0; i < kEach; ++i) out[k + i][mn] = chunk[i];
    }
  }
}

template <class T>
void read_b_as(const WgmmaForm& form, const WgmmaPanel& panel, const std::byte* shared,
               WgmmaOperands& operands) {
  T raw[32 / sizeof(T)][kMostWgmmaN];
  read_panel(panel, shared, raw);
  for (uint32_t k = 0; k < panel.k(); ++k) {
    widen(form.b, raw[k], panel.count, form.negates_b, operands.b[k]);
  }
}

template <class T>
void read_a_as(const WgmmaForm& form, const WgmmaPanel& panel, const std::byte* shared,
               WgmmaOperands& operands) {
  T raw[32 / sizeof(T)][kMostWgmmaN];
  read_panel(panel, shared, raw);
  for (uint32_t k = 0; k < panel.k(); ++k) {
    double column[kWgmmaRows];
    widen(form.a, raw[k], kWgmmaRows, form.negates_a, column);
    for (uint32_t row = 0; row < kWgmmaRows; ++row) operands.a[row][k] = column[row];
  }
}

void read_b(const WgmmaForm& form, const WgmmaPanel& panel, const std::byte* shared,
            WgmmaOperands& operands) {
  switch (panel.element_bytes) {
    case 1:
      return read_b_as<uint8_t>(form, panel, shared, operands);
    case 2:
      return read_b_as<uint16_t>(form, panel, shared, operands);
    default:
      return read_b_as<uint32_t>(form, panel, shared, operands);
  }
}

void read_a(const WgmmaForm& form, const WgmmaPanel& panel, const std::byte* shared,
            WgmmaOperands& operands) {
  switch (panel.element_bytes) {
    case 1:
      return read_a_as<uint8_t>(form, panel, shared, operands);
    case 2:
      return read_a_as<uint16_t>(form, panel, shared, operands);
    default:
      return read_a_as<uint32_t>(form, panel, shared, operands);
  }
}

// Register r of lane l: row l / 4 + 8 (r % 2), and the k from (l % 4) and r / 2 on that fill 32
// bits.
void read_a_registers(Warp& warp, const WgmmaForm& form, const Row* rows, WgmmaOperands& operands) {
  const uint32_t each = 4 / bytes_of(form.a);
  for (uint32_t r = 0; r < 4; ++r) {
    const auto* values = warp.row<uint32_t>(rows[r]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      double* to = &operands.a[lane / 4 + 8 * (r % 2)][lane % 4 * each + r / 2 * 4 * each];
      widen(form.a, &values[lane], each, form.negates_a, to);
    }
  }
}

// Where register r of lane l holds (the first of) its sums.
double* sums_of(WgmmaOperands& operands, bool half, uint32_t r, uint32_t lane) {
  const uint32_t i = half ? 2 * r : r;
  return &operands.d[lane / 4 + 8 * (i / 2 % 2)][8 * (i / 4) + 2 * (lane % 4) + i % 2];
}

void read_sums(Warp& warp, const WgmmaForm& form, const Row* rows, WgmmaOperands& operands) {
  for (uint32_t r = 0; r < form.results(); ++r) {
    const auto* values = warp.row<uint32_t>(rows[r]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      double* to = sums_of(operands, form.half_result, r, lane);
      if (form.half_result) {
        to[0] = half_to_float(static_cast<uint16_t>(values[lane]));
        to[1] = half_to_float(static_cast<uint16_t>(values[lane] >> 16));
      } else if (form.is_integer()) {
        *to = static_cast<int32_t>(values[lane]);
      } else {
        *to = float_of(values[lane]);
      }
    }
  }
}

void write_sums(Warp& warp, const WgmmaForm& form, const Row* rows, WgmmaOperands& operands) {
  for (uint32_t r = 0; r < form.results(); ++r) {
    auto* values = warp.row<uint32_t>(rows[r]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const double* from = sums_of(operands, form.half_result, r, lane);
      if (form.half_result) {
        values[lane] = half_from_double(from[0]) | uint32_t{half_from_double(from[1])} << 16;
      } else if (form.is_integer()) {
        values[lane] = static_cast<uint32_t>(static_cast<int64_t>(*from));
      } else {
        values[lane] = float_result(*from);
      }
    }
  }
}

}  // namespace

void compute(Warp& warp, const PendingWgmma& wgmma) {
  thread_local WgmmaOperands operands;
  const WgmmaForm form = form_of(*wgmma.in);
  const Row* rows = warp.program().rows.data() + wgmma.in->list;
  const std::byte* shared = warp.block().shared().data();
  if (form.a_in_registers) {
    read_a_registers(warp, form, rows + form.results(), operands);
  } else {
    read_a(form, a_panel(warp, form, wgmma.a), shared, operands);
  }
  read_b(form, b_panel(form, wgmma.b), shared, operands);
  if (wgmma.accumulates) {
    read_sums(warp, form, rows, operands);
  } else {
    std::memset(operands.d, 0, sizeof operands.d);
  }
  multiply_add(form.n, form.k(), operands);
  write_sums(warp, form, rows, operands);
}

}  // namespace gemmtune::ptxsim
