// mma.sync. Source: PTX ISA, "Warp-Level Matrix Instructions: mma", figures of each shape's
// fragment layout. The numeric behaviour is stated in mma_math.h.
#include <array>
#include <cmath>
#include <cstring>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/isa/matrix.h"

namespace gemmtune::ptxsim {

uint32_t elements_per_register(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::s8:
    case Element::u8:
      return 4;
    default:
      return 1;
  }
}

namespace {

double element_value(Element element, uint64_t bits, uint32_t part) {
  switch (element) {
    case Element::tf32:
      return float_of(static_cast<uint32_t>(bits) & 0xFFFFE000U);
    case Element::f32:
      return float_of(static_cast<uint32_t>(bits));
    case Element::f64:
      return std::bit_cast<double>(bits);
    case Element::s8:
      return static_cast<int8_t>(bits >> (8 * part));
    case Element::u8:
      return static_cast<uint8_t>(bits >> (8 * part));
    case Element::s32:
      return static_cast<int32_t>(bits);
    default:
      return 0;
  }
}

uint32_t integer_bits(double value, bool saturates) {
  if (!saturates) return static_cast<uint32_t>(static_cast<int64_t>(value));
  const double clamped = std::fmin(std::fmax(value, -2147483648.0), 2147483647.0);
  return static_cast<uint32_t>(static_cast<int32_t>(clamped));
}

}  // namespace

void gather_fragment(Warp& warp, const Row* rows, uint32_t registers, Element element,
                     Placement place, Matrix& out) {
  const uint32_t parts = elements_per_register(element);
  for (uint32_t r = 0; r < registers; ++r) {
    if (parts == 2) {
      double halves[2][kWarpSize];
      const auto* pairs = warp.row<uint32_t>(rows[r]);
      if (element == Element::f16) {
        unpack_halves(pairs, halves[0], halves[1]);
      } else {
        unpack_bfloats(pairs, halves[0], halves[1]);
      }
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        for (uint32_t part = 0; part < 2; ++part) {
          const Place at = place(lane, 2 * r + part);
          out.at[at.row][at.column] = halves[part][lane];
        }
      }
      continue;
    }
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t bits = element == Element::f64 ? warp.row<uint64_t>(rows[r])[lane]
                                                    : warp.row<uint32_t>(rows[r])[lane];
      for (uint32_t part = 0; part < parts; ++part) {
        const Place at = place(lane, parts * r + part);
        out.at[at.row][at.column] = element_value(element, bits, part);
      }
    }
  }
}

void scatter_fragment(Warp& warp, const Row* rows, uint32_t registers, Element element,
                      bool saturates, Placement place, const Matrix& matrix) {
  const auto value = [&](uint32_t lane, uint32_t index) {
    const Place at = place(lane, index);
    return matrix.at[at.row][at.column];
  };
  for (uint32_t r = 0; r < registers; ++r) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      switch (element) {
        case Element::f64:
          warp.row<double>(rows[r])[lane] = value(lane, r);
          break;
        case Element::f16:
          warp.row<uint32_t>(rows[r])[lane] = half_from_double(value(lane, 2 * r)) |
                                              uint32_t{half_from_double(value(lane, 2 * r + 1))}
                                                  << 16;
          break;
        case Element::s32:
          warp.row<uint32_t>(rows[r])[lane] = integer_bits(value(lane, r), saturates);
          break;
        default:
          warp.row<uint32_t>(rows[r])[lane] = float_result(value(lane, r));
          break;
      }
    }
  }
}

namespace {

// --- fragment layouts: g = lane / 4, t = lane % 4 ---

int g(uint32_t lane) {
  return static_cast<int>(lane / 4);
}
int t(uint32_t lane) {
  return static_cast<int>(lane % 4);
}
int bit(uint32_t index, uint32_t position) {
  return static_cast<int>(index >> position & 1);
}

// C and D of all m16n8 shapes
Place c_m16n8(uint32_t lane, uint32_t i) {
  return {g(lane) + 8 * bit(i, 1), 2 * t(lane) + bit(i, 0)};
}
// 16-bit A and B
Place a16_m16k16(uint32_t lane, uint32_t i) {
  return {g(lane) + 8 * bit(i, 1), 2 * t(lane) + bit(i, 0) + 8 * bit(i, 2)};
}
Place b16_k16n8(uint32_t lane, uint32_t i) {
  return {2 * t(lane) + bit(i, 0) + 8 * bit(i, 1), g(lane)};
}
// tf32
Place a32_m16k8(uint32_t lane, uint32_t i) {
  return {g(lane) + 8 * bit(i, 0), t(lane) + 4 * bit(i, 1)};
}
Place b32_k8n8(uint32_t lane, uint32_t i) {
  return {t(lane) + 4 * static_cast<int>(i), g(lane)};
}
// 8-bit
Place a8_m16k32(uint32_t lane, uint32_t i) {
  return {g(lane) + 8 * bit(i, 2), 4 * t(lane) + static_cast<int>(i & 3) + 16 * bit(i, 3)};
}
Place b8_k32n8(uint32_t lane, uint32_t i) {
  return {4 * t(lane) + static_cast<int>(i & 3) + 16 * bit(i, 2), g(lane)};
}
// m8n8k4 f64
Place a64_m8k4(uint32_t lane, uint32_t) {
  return {g(lane), t(lane)};
}
Place b64_k4n8(uint32_t lane, uint32_t) {
  return {t(lane), g(lane)};
}
Place c64_m8n8(uint32_t lane, uint32_t i) {
  return {g(lane), 2 * t(lane) + bit(i, 0)};
}

struct Shape {
  std::string_view name;
  Element input;
  int m, n, k;
  uint32_t a_registers, b_registers;
  Placement a, b, c;
};

// Smaller k are the first registers of larger ones.
constexpr std::array kShapes = {
    Shape{"m16n8k16", Element::f16, 16, 8, 16, 4, 2, a16_m16k16, b16_k16n8, c_m16n8},
    Shape{"m16n8k8", Element::f16, 16, 8, 8, 2, 1, a16_m16k16, b16_k16n8, c_m16n8},
    Shape{"m16n8k16", Element::bf16, 16, 8, 16, 4, 2, a16_m16k16, b16_k16n8, c_m16n8},
    Shape{"m16n8k8", Element::bf16, 16, 8, 8, 2, 1, a16_m16k16, b16_k16n8, c_m16n8},
    Shape{"m16n8k8", Element::tf32, 16, 8, 8, 4, 2, a32_m16k8, b32_k8n8, c_m16n8},
    Shape{"m16n8k4", Element::tf32, 16, 8, 4, 2, 1, a32_m16k8, b32_k8n8, c_m16n8},
    Shape{"m16n8k32", Element::s8, 16, 8, 32, 4, 2, a8_m16k32, b8_k32n8, c_m16n8},
    Shape{"m16n8k16", Element::s8, 16, 8, 16, 2, 1, a8_m16k32, b8_k32n8, c_m16n8},
    Shape{"m8n8k4", Element::f64, 8, 8, 4, 1, 1, a64_m8k4, b64_k4n8, c64_m8n8},
};

// Instruction::variant: index in kShapes. immediate: Element of a, b, c, d, and saturation.
struct Types {
  Element a, b, c, d;
  bool saturates;
};

int64_t pack_types(const Types& types) {
  return static_cast<int64_t>(types.a) | static_cast<int64_t>(types.b) << 8 |
         static_cast<int64_t>(types.c) << 16 | static_cast<int64_t>(types.d) << 24 |
         static_cast<int64_t>(types.saturates ? 1 : 0) << 32;
}
Types unpack_types(int64_t packed) {
  return {static_cast<Element>(packed & 0xFF), static_cast<Element>(packed >> 8 & 0xFF),
          static_cast<Element>(packed >> 16 & 0xFF), static_cast<Element>(packed >> 24 & 0xFF),
          (packed >> 32 & 1) != 0};
}

uint32_t c_registers(const Shape& shape, Element element) {
  return static_cast<uint32_t>(shape.m * shape.n) / kWarpSize / elements_per_register(element);
}

// f64 is summed with fused multiply-adds, one rounding per step, in ascending k.
void multiply_add_f64(const Shape& shape, const Matrix& a, const Matrix& b, Matrix& c) {
  for (int row = 0; row < shape.m; ++row) {
    for (int column = 0; column < shape.n; ++column) {
      for (int k = 0; k < shape.k; ++k) {
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the fragments fill the whole shape
        c.at[row][column] = std::fma(a.at[row][k], b.at[k][column], c.at[row][column]);
      }
    }
  }
}

Step execute_mma(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return Step::fault;
  const Shape& shape = kShapes[in.variant];
  const Types types = unpack_types(in.immediate);
  const Row* d = warp.program().rows.data() + in.list;
  const Row* a = d + c_registers(shape, types.d);
  const Row* b = a + shape.a_registers;
  const Row* c = b + shape.b_registers;
  Matrix matrix_a;
  Matrix matrix_b;
  Matrix sum;
  gather_fragment(warp, a, shape.a_registers, types.a, shape.a, matrix_a);
  gather_fragment(warp, b, shape.b_registers, types.b, shape.b, matrix_b);
  gather_fragment(warp, c, c_registers(shape, types.c), types.c, shape.c, sum);
  if (types.a == Element::f64) {
    multiply_add_f64(shape, matrix_a, matrix_b, sum);
  } else {
    multiply_add(shape.m, shape.n, shape.k, matrix_a.at, matrix_b.at, sum.at);
  }
  scatter_fragment(warp, d, c_registers(shape, types.d), types.d, types.saturates, shape.c, sum);
  return Step::next;
}

bool element_of(Type type, Element& out) {
  switch (type) {
    case Type::f16:
      out = Element::f16;
      return true;
    case Type::bf16:
      out = Element::bf16;
      return true;
    case Type::tf32:
      out = Element::tf32;
      return true;
    case Type::f32:
      out = Element::f32;
      return true;
    case Type::f64:
      out = Element::f64;
      return true;
    case Type::s8:
      out = Element::s8;
      return true;
    case Type::u8:
      out = Element::u8;
      return true;
    case Type::s32:
      out = Element::s32;
      return true;
    default:
      return false;
  }
}

bool is_byte(Element element) {
  return element == Element::s8 || element == Element::u8;
}

// Which accumulators an input type has.
bool valid_accumulator(Element input, Element accumulator) {
  switch (input) {
    case Element::f16:
      return accumulator == Element::f16 || accumulator == Element::f32;
    case Element::bf16:
    case Element::tf32:
      return accumulator == Element::f32;
    case Element::f64:
      return accumulator == Element::f64;
    default:
      return accumulator == Element::s32;
  }
}

const Shape* find_shape(const DecodeContext& c, Element a) {
  for (const Shape& shape : kShapes) {
    if (c.has(shape.name) && (shape.input == a || (is_byte(shape.input) && is_byte(a)))) {
      return &shape;
    }
  }
  return nullptr;
}

bool decode_mma(DecodeContext& c) {
  if (!c.only({"sync", "aligned", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m8n8k4", "row",
               "col", "satfinite"})) {
    return false;
  }
  const std::vector<Type> given = c.types();  // d, a, b, c
  Types types = {};
  types.saturates = c.has("satfinite");
  if (given.size() != 4 || !element_of(given[0], types.d) || !element_of(given[1], types.a) ||
      !element_of(given[2], types.b) || !element_of(given[3], types.c) || !c.has("row") ||
      !c.has("col")) {
    return c.unknown();
  }
  const bool same_input = types.a == types.b || (is_byte(types.a) && is_byte(types.b));
  const Shape* shape = find_shape(c, types.a);
  if (shape == nullptr || !same_input || !valid_accumulator(types.a, types.c) ||
      !valid_accumulator(types.a, types.d)) {
    return c.unknown("for this shape and these types");
  }
  if (!c.operand_count(4, 4)) return false;
  const auto register_type = [](Element element) {
    return element == Element::f64 ? Type::f64 : Type::b32;
  };
  if (!c.list_destinations(c.operand(0), register_type(types.d)) ||
      !c.list_sources(c.operand(1), register_type(types.a)) ||
      !c.list_sources(c.operand(2), register_type(types.b)) ||
      !c.list_sources(c.operand(3), register_type(types.c))) {
    return false;
  }
  const size_t wanted[] = {c_registers(*shape, types.d), shape->a_registers, shape->b_registers,
                           c_registers(*shape, types.c)};
  for (size_t i = 0; i < 4; ++i) {
    if (DecodeContext::elements(c.operand(i)).size() != wanted[i]) {
      return c.fail("a wrong number of registers");
    }
  }
  c.out.variant = static_cast<uint16_t>(shape - kShapes.data());
  c.out.immediate = pack_types(types);
  c.out.reports_undefined = true;
  return c.emit(execute_mma);
}

}  // namespace

void add_matrix_multiplications(InstructionSet& set) {
  set.add("mma", decode_mma, InstructionClass::matrix);
}

}  // namespace gemmtune::ptxsim
