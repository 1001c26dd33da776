// atom and red. Source: PTX ISA, "atom", "red".
//
// Lanes take their turns in ascending order; blocks on different host threads in any order. f32
// sums flush subnormals in global memory no more than a plain add does (the hardware does flush f32
// atomics to shared memory: the one difference).
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

// Each operation maps the old value and the operands b and c to the new value, as bit patterns.
struct Exchange {
  template <class T>
  static T of(T, T b, T) {
    return b;
  }
};
struct CompareAndSwap {
  template <class T>
  static T of(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct Add {
  template <class T>
  static T of(T old, T b, T) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    } else {
      return old + b;
    }
  }
};
struct Min {
  template <class T>
  static T of(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T>
  static T of(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct And {
  template <class T>
  static T of(T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T of(T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T of(T old, T b, T) {
    return old ^ b;
  }
};
struct Increment {
  template <class T>
  static T of(T old, T b, T) {
    return old >= b ? T{0} : old + 1;
  }
};
struct Decrement {
  template <class T>
  static T of(T old, T b, T) {
    return old == 0 || old > b ? b : old - 1;
  }
};

uint16_t add_half(uint16_t a, uint16_t b) {
  return float_to_half(half_to_float(a) + half_to_float(b));
}
uint16_t add_bfloat(uint16_t a, uint16_t b) {
  return float_to_bfloat(to_odd_float(add_to_odd(bfloat_to_float(a), bfloat_to_float(b))));
}
template <auto F>
struct AddSmall {
  template <class T>
  static T of(T old, T b, T) {
    if constexpr (sizeof(T) == 2) {
      return F(old, b);
    } else {
      return F(static_cast<uint16_t>(old), static_cast<uint16_t>(b)) |
             static_cast<T>(F(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16)))
                 << 16;
    }
  }
};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

template <class T, class Operation>
BitsOf<T> update(std::byte* at, BitsOf<T> b, BitsOf<T> c) {
  using Bits = BitsOf<T>;
  std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(at));  // aligned: resolve() checked
  Bits old = cell.load(std::memory_order_relaxed);
  Bits next = 0;
  do {
    next = std::bit_cast<Bits>(
        Operation::of(std::bit_cast<T>(old), std::bit_cast<T>(b), std::bit_cast<T>(c)));
  } while (!cell.compare_exchange_weak(old, next, std::memory_order_acq_rel));
  return old;
}

// op: d (kNoRow for red), address, b, c. The vector forms have their registers in the list.
template <class T, class Operation>
Step execute_atomic(Warp& warp, const Instruction& in, uint32_t mask) {
  using Bits = BitsOf<T>;
  LaneAddresses addresses;
  LanePointers at;
  lane_addresses(warp, in, 1, addresses);
  const uint32_t bytes = uint32_t{in.access.element_bytes} * in.access.elements;
  resolve(warp, in, mask, {in.access.space, AccessKind::update, bytes, 0}, addresses, at);
  const Row* rows = warp.program().rows.data() + in.list;
  const auto* c = warp.row<Bits>(in.op[3]);
  for_lanes(mask, [&](uint32_t lane) {
    for (uint32_t element = 0; element < in.access.elements; ++element) {
      const auto* b = warp.row<Bits>(rows[element]);
      const Bits old = update<T, Operation>(at[lane] + element * sizeof(Bits), b[lane], c[lane]);
      if (in.op[0] != kNoRow) warp.row<Bits>(in.op[0])[lane] = old;
    }
  });
  return Step::next;
}

template <class T>
Execute integer_operation(const DecodeContext& c) {
  if (c.has("add")) return execute_atomic<T, Add>;
  if (c.has("min")) return execute_atomic<T, Min>;
  if (c.has("max")) return execute_atomic<T, Max>;
  if (c.has("exch")) return execute_atomic<T, Exchange>;
  if (c.has("cas")) return execute_atomic<T, CompareAndSwap>;
  if (c.has("and")) return execute_atomic<T, And>;
  if (c.has("or")) return execute_atomic<T, Or>;
  if (c.has("xor")) return execute_atomic<T, Xor>;
  if (c.has("inc")) return execute_atomic<T, Increment>;
  if (c.has("dec")) return execute_atomic<T, Decrement>;
  return nullptr;
}

Execute pick(const DecodeContext& c) {
  switch (c.type()) {
    case Type::b16:
      return c.has("cas") ? execute_atomic<uint16_t, CompareAndSwap> : nullptr;
    case Type::b32:
    case Type::u32:
      return integer_operation<uint32_t>(c);
    case Type::s32:
      return integer_operation<int32_t>(c);
    case Type::b64:
    case Type::u64:
      return integer_operation<uint64_t>(c);
    case Type::s64:
      return integer_operation<int64_t>(c);
    case Type::f32:
      return c.has("add") ? execute_atomic<float, Add> : nullptr;
    case Type::f64:
      return c.has("add") ? execute_atomic<double, Add> : nullptr;
    case Type::f16:
      return c.has("add") ? execute_atomic<uint16_t, AddSmall<add_half>> : nullptr;
    case Type::f16x2:
      return c.has("add") ? execute_atomic<uint32_t, AddSmall<add_half>> : nullptr;
    case Type::bf16:
      return c.has("add") ? execute_atomic<uint16_t, AddSmall<add_bfloat>> : nullptr;
    case Type::bf16x2:
      return c.has("add") ? execute_atomic<uint32_t, AddSmall<add_bfloat>> : nullptr;
    default:
      return nullptr;
  }
}

Type register_type(Type type) {
  switch (size_of(type)) {
    case 2:
      return Type::b16;
    case 4:
      return Type::b32;
    default:
      return Type::b64;
  }
}

bool allowed_modifiers(DecodeContext& c) {
  return c.only({"relaxed", "acquire", "release", "acq_rel", "cta",         "cluster",
                 "gpu",     "sys",     "global",  "shared",  "shared::cta", "shared::cluster",
                 "add",     "min",     "max",     "exch",    "cas",         "and",
                 "or",      "xor",     "inc",     "dec",     "noftz",       "L2::cache_hint",
                 "v2",      "v4",      "v8"});
}

bool decode_atomic_to(DecodeContext& c, bool returns) {
  if (!allowed_modifiers(c)) return false;
  const Execute execute = pick(c);
  if (execute == nullptr) return c.unknown();
  const Type type = register_type(c.type());
  c.out.access.elements = c.has("v2") ? 2 : c.has("v4") ? 4 : c.has("v8") ? 8 : 1;
  if (returns && c.out.access.elements != 1) return c.unknown("with a vector");
  c.out.access.element_bytes = static_cast<uint8_t>(size_of(type));
  c.out.access.is_atomic = true;
  c.out.reports_undefined = true;
  const size_t first = returns ? 1 : 0;
  const size_t operands = first + (c.has("cas") ? 3 : 2);
  if (!c.operand_count(operands, operands + (c.has("L2::cache_hint") ? 1 : 0))) return false;
  if (!c.address(c.operand(first), 1)) return false;
  c.out.access.space = Space::generic;
  if (c.has("global")) c.out.access.space = Space::global;
  if (c.has("shared") || c.has("shared::cta") || c.has("shared::cluster")) {
    c.out.access.space = Space::shared;
  }
  if (c.out.access.space != Space::global) {
    uint32_t& granule = c.program().shared_granule;
    granule = std::min<uint32_t>(granule, c.out.access.element_bytes);
  }
  if (!c.list_sources(c.operand(first + 1), type)) return false;
  if (c.out.list_size != c.out.access.elements) return c.fail("a wrong number of registers");
  c.out.op[3] = c.program().rows[c.out.list];
  if (c.has("cas")) c.out.op[3] = c.source(c.operand(first + 2), type);
  c.out.op[0] = kNoRow;
  if (returns) {
    c.out.op[0] = c.destination(c.operand(0), type);
    if (c.out.op[0] == kNoRow) return false;
  }
  return c.out.op[3] != kNoRow && c.emit(execute);
}

}  // namespace

void add_atomics(InstructionSet& set) {
  set.add(
      "atom", [](DecodeContext& c) { return decode_atomic_to(c, true); }, InstructionClass::atomic);
  set.add(
      "red", [](DecodeContext& c) { return decode_atomic_to(c, false); }, InstructionClass::atomic);
}

}  // namespace gemmtune::ptxsim
