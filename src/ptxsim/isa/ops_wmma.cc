// wmma.load, wmma.store, wmma.mma. Source: PTX ISA, "Warp-level matrix instructions: wmma".
//
// The ISA leaves open which lane holds which element; programs may only treat all elements alike.
// Here accumulators of 16 x 16 lie as two m16n8 accumulators of mma.sync side by side, which is
// what devices since sm_75 do; other accumulators lie lane after lane. Inputs lie as vectors of 16
// bytes of a line, lane by lane down the lines of 16: the accesses of the ldmatrix that NVRTC 13
// compiles wmma.load from shared memory to, for sm_75 to sm_90, and so the bank conflicts. A
// program that multiplies a fragment as of another layout than it loaded gets another result. Of
// f16 inputs, whose fragments hold elements more than once, later registers repeat the first. The
// arithmetic is that of mma_math.h.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/isa/matrix.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

struct Shape {
  std::string_view name;
  int m, n, k;
};
constexpr std::array kShapes = {Shape{"m16n16k16", 16, 16, 16}, Shape{"m32n8k16", 32, 8, 16},
                                Shape{"m8n32k16", 8, 32, 16}, Shape{"m16n16k8", 16, 16, 8}};

enum class Part : uint8_t { a, b, accumulator };

uint32_t bytes_of(Element element) {
  return element == Element::f16 || element == Element::bf16 ? 2 : 4;
}

struct Fragment {
  Part part;
  Element element;
  bool column_major;
  int rows, columns;
  bool repeats;  // always 8 registers: the first ones are repeated to fill them

  uint32_t distinct_elements() const {  // a lane
    return static_cast<uint32_t>(rows * columns) / kWarpSize;
  }
  uint32_t distinct_registers() const {
    return distinct_elements() / elements_per_register(element);
  }
  uint32_t registers() const { return repeats ? 8 : distinct_registers(); }
  bool is_square_sum() const { return part == Part::accumulator && rows == 16 && columns == 16; }

  // Elements of a lane that are neighbours in memory too, and move as one access.
  uint32_t together() const {
    if (part == Part::accumulator) return is_square_sum() && !column_major ? 2 : 1;
    return std::min(kVectorBytes / bytes_of(element), distinct_elements());
  }

  Place place(uint32_t lane, uint32_t index) const {
    if (is_square_sum()) {
      const auto bit = [&](uint32_t position) { return static_cast<int>(index >> position & 1); };
      return {static_cast<int>(lane / 4) + 8 * bit(1),
              2 * static_cast<int>(lane % 4) + bit(0) + 8 * bit(2)};
    }
    if (part == Part::accumulator) {
      const auto linear = static_cast<int>(lane * distinct_elements() + index);
      return {linear / columns, linear % columns};
    }
    const uint32_t each = together();
    const auto vector = static_cast<int>(lane + kWarpSize * (index / each));
    const int lines = column_major ? columns : rows;
    const int line = vector % lines;
    const int along = vector / lines * static_cast<int>(each) + static_cast<int>(index % each);
    return column_major ? Place{along, line} : Place{line, along};
  }

 private:
  static constexpr uint32_t kVectorBytes = 16;
};

Fragment make_fragment(const Shape& shape, Part part, Element element, bool column_major) {
  Fragment out{part, element, column_major, shape.m, shape.n, false};
  if (part == Part::a) out.columns = shape.k;
  if (part == Part::b) out.rows = shape.k;
  out.repeats = part != Part::accumulator && element == Element::f16;
  return out;
}

// --- instruction fields of transfers: variant = shape | part << 4 | element << 8 | column-major
// << 12; of products: variant = shape | column-major << 12, A's, | the same << 13, B's ---

constexpr uint16_t kColumnMajor = 1 << 12;
constexpr uint16_t kColumnMajorB = 1 << 13;

uint16_t pack(size_t shape, Part part, Element element, bool column_major) {
  return static_cast<uint16_t>(shape | static_cast<size_t>(part) << 4 |
                               static_cast<size_t>(element) << 8 |
                               (column_major ? kColumnMajor : 0));
}
Fragment fragment_of(uint16_t variant) {
  return make_fragment(kShapes[variant & 15], static_cast<Part>(variant >> 4 & 15),
                       static_cast<Element>(variant >> 8 & 15), (variant & kColumnMajor) != 0);
}

// The addresses of element `index` of every lane. op[1]: stride in elements, or kNoRow.
LaneAddresses element_addresses(Warp& warp, const Instruction& in, const Fragment& fragment,
                                const LaneAddresses& base, uint32_t index) {
  const bool column_major = fragment.column_major;
  const auto* strides = in.op[1] != kNoRow ? warp.row<uint32_t>(in.op[1]) : nullptr;
  LaneAddresses out;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const Place at = fragment.place(lane, index);
    const uint64_t natural = static_cast<uint64_t>(column_major ? fragment.rows : fragment.columns);
    const uint64_t stride = strides != nullptr ? strides[lane] : natural;
    const auto major = static_cast<uint64_t>(column_major ? at.column : at.row);
    const auto minor = static_cast<uint64_t>(column_major ? at.row : at.column);
    out[lane] = base[lane] + (major * stride + minor) * bytes_of(fragment.element);
  }
  return out;
}

bool same_base(Warp& warp, const Instruction& in, const LaneAddresses& base) {
  for (uint32_t lane = 1; lane < kWarpSize; ++lane) {
    if (base[lane] == base[0]) continue;
    warp.report(Check::matrix_address, in, lane, base[lane],
                [] { return "the lanes give different matrix addresses"; });
    return false;
  }
  return true;
}

template <bool kLoads>
Step execute_transfer(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return Step::fault;
  const Fragment fragment = fragment_of(in.variant);
  LaneAddresses base;
  lane_addresses(warp, in, 0, base);
  if (!same_base(warp, in, base)) return Step::fault;
  const Row* rows = warp.program().rows.data() + in.list;
  const uint32_t bytes = bytes_of(fragment.element);
  const uint32_t each = elements_per_register(fragment.element);
  const uint32_t together = fragment.together();
  const AccessKind kind = kLoads ? AccessKind::read : AccessKind::write;
  for (uint32_t first = 0; first < fragment.distinct_elements(); first += together) {
    LanePointers at;
    resolve(warp, in, mask, {in.access.space, kind, bytes * together, 0},
            element_addresses(warp, in, fragment, base, first), at);
    for (uint32_t i = 0; i < together; ++i) {
      auto* row = warp.row<std::byte>(rows[(first + i) / each]);
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        std::byte* in_register = row + lane * 4 + (first + i) % each * bytes;
        std::byte* in_memory = at[lane] + i * bytes;
        std::memcpy(kLoads ? in_register : in_memory, kLoads ? in_memory : in_register, bytes);
      }
    }
  }
  if (kLoads && fragment.repeats) {
    const uint32_t distinct = fragment.distinct_registers();
    for (uint32_t i = distinct; i < fragment.registers(); ++i) {
      std::memcpy(warp.row<uint32_t>(rows[i]), warp.row<uint32_t>(rows[i - distinct]),
                  4 * kWarpSize);
    }
  }
  return Step::next;
}

double value_of(Element element, uint32_t bits, uint32_t part) {
  switch (element) {
    case Element::f16:
      return half_to_float(static_cast<uint16_t>(bits >> (16 * part)));
    case Element::bf16:
      return bfloat_to_float(static_cast<uint16_t>(bits >> (16 * part)));
    case Element::tf32:
      return float_of(bits & 0xFFFFE000U);
    default:
      return float_of(bits);
  }
}

void gather(Warp& warp, const Row* rows, const Fragment& fragment, Matrix& out) {
  const uint32_t each = elements_per_register(fragment.element);
  for (uint32_t index = 0; index < fragment.distinct_elements(); ++index) {
    const auto* row = warp.row<uint32_t>(rows[index / each]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const Place at = fragment.place(lane, index);
      out.at[at.row][at.column] = value_of(fragment.element, row[lane], index % each);
    }
  }
}

void scatter(Warp& warp, const Row* rows, const Fragment& fragment, const Matrix& matrix) {
  const uint32_t each = elements_per_register(fragment.element);
  for (uint32_t index = 0; index < fragment.distinct_elements(); ++index) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const Place at = fragment.place(lane, index);
      const double value = matrix.at[at.row][at.column];
      if (each == 2) {
        warp.row<uint16_t>(rows[index / 2])[2 * lane + index % 2] = half_from_double(value);
      } else {
        const auto rounded = static_cast<float>(value);
        warp.row<uint32_t>(rows[index])[lane] = rounded != rounded ? kNan32 : bits_of(rounded);
      }
    }
  }
}

// immediate: the types of a and b (the same), c and d. The list: d, a, b, c.
Step execute_mma(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return Step::fault;
  const Shape& shape = kShapes[in.variant & 15];
  const auto element = [&](int part) { return static_cast<Element>(in.immediate >> part & 0xFF); };
  const Fragment a = make_fragment(shape, Part::a, element(0), (in.variant & kColumnMajor) != 0);
  const Fragment b = make_fragment(shape, Part::b, element(0), (in.variant & kColumnMajorB) != 0);
  const Fragment c = make_fragment(shape, Part::accumulator, element(8), false);
  const Fragment d = make_fragment(shape, Part::accumulator, element(16), false);
  const Row* rows = warp.program().rows.data() + in.list;
  Matrix matrix_a;
  Matrix matrix_b;
  Matrix sum;
  gather(warp, rows + d.registers(), a, matrix_a);
  gather(warp, rows + d.registers() + a.registers(), b, matrix_b);
  gather(warp, rows + d.registers() + a.registers() + b.registers(), c, sum);
  multiply_add(shape.m, shape.n, shape.k, matrix_a.at, matrix_b.at, sum.at);
  scatter(warp, rows, d, sum);
  return Step::next;
}

// --- decoding ---

bool allowed_modifiers(DecodeContext& c) {
  return c.only({"load", "store", "mma", "a", "b", "c", "d", "sync", "aligned", "row", "col",
                 "m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "global", "shared", "shared::cta",
                 "satfinite"});
}

bool find_shape(const DecodeContext& c, size_t& out) {
  for (size_t i = 0; i < kShapes.size(); ++i) {
    if (c.has(kShapes[i].name)) {
      out = i;
      return true;
    }
  }
  return false;
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
    default:
      return false;
  }
}

bool decode_transfer(DecodeContext& c, size_t shape, bool loads) {
  const Part part = c.has("a") ? Part::a : c.has("b") ? Part::b : Part::accumulator;
  Element element = Element::f32;
  if (!element_of(c.type(), element)) return c.unknown();
  if (!c.operand_count(2, 3)) return false;
  const ast::Operand& registers = c.operand(loads ? 0 : 1);
  if (!c.address(c.operand(loads ? 1 : 0), 0)) return false;
  c.out.access.space = c.has("global")                           ? Space::global
                       : c.has("shared") || c.has("shared::cta") ? Space::shared
                                                                 : Space::generic;
  c.out.op[1] = kNoRow;
  if (c.operand_count() == 3) {
    c.out.op[1] = c.source(c.operand(2), Type::b32);
    if (c.out.op[1] == kNoRow) return false;
  }
  const Fragment fragment = make_fragment(kShapes[shape], part, element, c.has("col"));
  uint32_t& granule = c.program().shared_granule;
  granule = std::min(granule, bytes_of(element));
  const bool listed =
      loads ? c.list_destinations(registers, Type::b32) : c.list_sources(registers, Type::b32);
  if (!listed) return false;
  if (c.out.list_size != fragment.registers()) return c.fail("a wrong number of registers");
  c.out.variant = pack(shape, part, element, c.has("col"));
  c.out.reports_undefined = true;
  return c.emit(loads ? execute_transfer<true> : execute_transfer<false>);
}

// Which of A and B are column-major: .alayout, then .blayout.
bool find_layouts(const DecodeContext& c, uint16_t& out) {
  std::vector<bool> column_major;
  for (const std::string_view modifier : c.in.modifiers) {
    if (modifier == "row" || modifier == "col") column_major.push_back(modifier == "col");
  }
  if (column_major.size() != 2) return false;
  out = static_cast<uint16_t>((column_major[0] ? kColumnMajor : 0) |
                              (column_major[1] ? kColumnMajorB : 0));
  return true;
}

// wmma.mma.sync.aligned.alayout.blayout.shape.dtype{.atype.btype}.ctype d, a, b, c: f16 inputs are
// not named.
bool decode_multiplication(DecodeContext& c, size_t shape) {
  uint16_t layouts = 0;
  if (!find_layouts(c, layouts)) return c.unknown();
  if (c.has("satfinite") || !c.operand_count(4, 4)) return c.unknown();
  const std::vector<Type> given = c.types();
  Element input = Element::f16;
  Element accumulator = Element::f32;
  Element result = Element::f32;
  const bool named = given.size() == 4;
  if ((given.size() != 2 && !named) || !element_of(given.front(), result) ||
      !element_of(given.back(), accumulator) || (named && !element_of(given[1], input))) {
    return c.unknown();
  }
  for (size_t i = 0; i < 4; ++i) {
    const bool listed = i == 0 ? c.list_destinations(c.operand(i), Type::b32)
                               : c.list_sources(c.operand(i), Type::b32);
    if (!listed) return false;
  }
  const Fragment fragments[] = {
      make_fragment(kShapes[shape], Part::accumulator, result, false),
      make_fragment(kShapes[shape], Part::a, input, false),
      make_fragment(kShapes[shape], Part::b, input, false),
      make_fragment(kShapes[shape], Part::accumulator, accumulator, false)};
  for (size_t i = 0; i < 4; ++i) {
    if (DecodeContext::elements(c.operand(i)).size() != fragments[i].registers()) {
      return c.fail("a wrong number of registers");
    }
  }
  c.out.variant = static_cast<uint16_t>(shape | layouts);
  c.out.immediate = static_cast<int64_t>(input) | static_cast<int64_t>(accumulator) << 8 |
                    static_cast<int64_t>(result) << 16;
  c.out.reports_undefined = true;
  return c.emit(execute_mma);
}

bool decode_wmma(DecodeContext& c) {
  size_t shape = 0;
  if (!allowed_modifiers(c)) return false;
  if (!find_shape(c, shape)) return c.unknown();
  if (c.has("load")) return decode_transfer(c, shape, true);
  if (c.has("store")) return decode_transfer(c, shape, false);
  return c.has("mma") ? decode_multiplication(c, shape) : c.unknown();
}

}  // namespace

void add_wmma(InstructionSet& set) {
  set.add("wmma", decode_wmma, InstructionClass::matrix);
}

}  // namespace gemmtune::ptxsim
