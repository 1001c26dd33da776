// shfl, vote, match, redux, activemask, elect. Source: PTX ISA, "Data Movement" (shfl.sync),
// "Parallel Synchronization and Communication Instructions".
//
// Lanes of the member mask that are elsewhere are waited for; when they can never come, that is a
// deadlock finding.
#include <fmt/format.h>

#include <bit>

#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

enum class Shuffle : uint8_t { up, down, bfly, idx };

uint32_t first_of(uint32_t mask) {
  return static_cast<uint32_t>(std::countr_zero(mask));
}

// The lane that `lane` reads, and whether that is in range.
uint32_t source_lane(Shuffle mode, uint32_t lane, uint32_t b, uint32_t c, bool& in_range) {
  const uint32_t segment = c >> 8 & 31;
  const uint32_t clamp = c & 31;
  const uint32_t shift = b & 31;
  const auto highest = static_cast<int32_t>((lane & segment) | (clamp & ~segment));
  const auto own = static_cast<int32_t>(lane);
  int32_t from = 0;
  switch (mode) {
    case Shuffle::up:
      from = own - static_cast<int32_t>(shift);
      in_range = from >= highest;
      break;
    case Shuffle::down:
      from = own + static_cast<int32_t>(shift);
      in_range = from <= highest;
      break;
    case Shuffle::bfly:
      from = own ^ static_cast<int32_t>(shift);
      in_range = from <= highest;
      break;
    case Shuffle::idx:
      from = static_cast<int32_t>((lane & segment) | (shift & ~segment));
      in_range = from <= highest;
      break;
  }
  return in_range ? static_cast<uint32_t>(from) : lane;
}

// op: d, a, b, c, members, predicate (kNoRow: none). variant: Shuffle.
Step execute_shfl(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = warp.row<uint32_t>(in.op[4])[first_of(mask)];
  if (!warp.gather(in, members, false, mask)) return Step::rendezvous;
  const auto* a = warp.row<uint32_t>(in.op[1]);
  const auto* b = warp.row<uint32_t>(in.op[2]);
  const auto* c = warp.row<uint32_t>(in.op[3]);
  uint32_t values[kWarpSize] = {};
  uint32_t ranges = 0;
  for_lanes(mask, [&](uint32_t lane) {
    bool in_range = false;
    const uint32_t from =
        source_lane(static_cast<Shuffle>(in.variant), lane, b[lane], c[lane], in_range);
    if ((mask >> from & 1) == 0) {
      warp.report(Check::shuffle_source, in, lane, 0, [&] {
        return fmt::format("a shuffle reads lane {}, which does not take part", from);
      });
    }
    values[lane] = a[from];
    ranges |= (in_range ? 1U : 0U) << lane;
  });
  blend(warp.row<uint32_t>(in.op[0]), values, mask);
  if (in.op[5] != kNoRow) {
    uint32_t& p = warp.predicate(in.op[5]);
    p = (p & ~mask) | ranges;
  }
  return Step::next;
}

bool decode_shfl(DecodeContext& c) {
  if (!c.only({"sync", "up", "down", "bfly", "idx"}) || !c.has("sync") || size_of(c.type()) != 4 ||
      !c.operand_count(5, 5)) {
    return c.unknown();
  }
  const Shuffle mode = c.has("up")     ? Shuffle::up
                       : c.has("down") ? Shuffle::down
                       : c.has("bfly") ? Shuffle::bfly
                                       : Shuffle::idx;
  c.out.variant = static_cast<uint16_t>(mode);
  const ast::Operand& d = c.operand(0);
  c.out.op[5] = kNoRow;
  if (d.kind == ast::Operand::Kind::pair) {
    c.out.op[0] = c.destination(d.elements[0], Type::b32);
    c.out.op[5] = c.predicate_destination(d.elements[1]);
    if (c.out.op[5] == kNoRow) return false;
  } else {
    c.out.op[0] = c.destination(d, Type::b32);
  }
  if (c.out.op[0] == kNoRow) return false;
  for (size_t i = 1; i <= 4; ++i) {
    c.out.op[i] = c.source(c.operand(i), Type::b32);
    if (c.out.op[i] == kNoRow) return false;
  }
  return c.emit(execute_shfl);
}

enum class Vote : uint8_t { all, any, uni, ballot };

// op: d, predicate, members; variant: Vote; immediate: the predicate is negated.
Step execute_vote(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = warp.row<uint32_t>(in.op[2])[first_of(mask)];
  if (!warp.gather(in, members, false, mask)) return Step::rendezvous;
  uint32_t votes = warp.predicate(in.op[1]);
  if (in.immediate != 0) votes = ~votes;
  votes &= mask;
  const auto kind = static_cast<Vote>(in.variant);
  if (kind == Vote::ballot) {
    auto* d = warp.row<uint32_t>(in.op[0]);
    for_lanes(mask, [&](uint32_t lane) { d[lane] = votes; });
    return Step::next;
  }
  const bool yes = kind == Vote::all   ? votes == mask
                   : kind == Vote::any ? votes != 0
                                       : votes == mask || votes == 0;
  uint32_t& d = warp.predicate(in.op[0]);
  d = yes ? d | mask : d & ~mask;
  return Step::next;
}

bool decode_vote(DecodeContext& c) {
  if (!c.only({"sync", "all", "any", "uni", "ballot"}) || !c.has("sync") ||
      !c.operand_count(3, 3)) {
    return c.unknown();
  }
  const Vote kind = c.has("all")   ? Vote::all
                    : c.has("any") ? Vote::any
                    : c.has("uni") ? Vote::uni
                                   : Vote::ballot;
  c.out.variant = static_cast<uint16_t>(kind);
  c.out.op[0] = kind == Vote::ballot ? c.destination(c.operand(0), Type::b32)
                                     : c.predicate_destination(c.operand(0));
  bool negated = false;
  c.out.op[1] = c.predicate_source(c.operand(1), negated);
  c.out.immediate = negated ? 1 : 0;
  c.out.op[2] = c.source(c.operand(2), Type::b32);
  return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.out.op[2] != kNoRow &&
         c.emit(execute_vote);
}

// op: d, a, members, predicate (match.all, or kNoRow). variant: 1 for all.
template <class T>
Step execute_match(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = warp.row<uint32_t>(in.op[2])[first_of(mask)];
  if (!warp.gather(in, members, false, mask)) return Step::rendezvous;
  const T* a = warp.row<T>(in.op[1]);
  uint32_t values[kWarpSize] = {};
  uint32_t all_same = 0;
  for_lanes(mask, [&](uint32_t lane) {
    uint32_t same = 0;
    for_lanes(mask, [&](uint32_t other) { same |= (a[other] == a[lane] ? 1U : 0U) << other; });
    if (same == mask) all_same |= 1U << lane;
    values[lane] = in.variant == 0 ? same : (same == mask ? mask : 0);
  });
  blend(warp.row<uint32_t>(in.op[0]), values, mask);
  if (in.op[3] != kNoRow) {
    uint32_t& p = warp.predicate(in.op[3]);
    p = (p & ~mask) | all_same;
  }
  return Step::next;
}

bool decode_match(DecodeContext& c) {
  const Type type = c.type();
  if (!c.only({"sync", "any", "all"}) || !c.operand_count(3, 3) ||
      (type != Type::b32 && type != Type::b64)) {
    return c.unknown();
  }
  c.out.variant = c.has("all") ? 1 : 0;
  const ast::Operand& d = c.operand(0);
  c.out.op[3] = kNoRow;
  if (d.kind == ast::Operand::Kind::pair) {
    c.out.op[3] = c.predicate_destination(d.elements[1]);
    if (c.out.op[3] == kNoRow) return false;
  }
  c.out.op[0] = c.destination(d.kind == ast::Operand::Kind::pair ? d.elements[0] : d, Type::b32);
  c.out.op[1] = c.source(c.operand(1), type);
  c.out.op[2] = c.source(c.operand(2), Type::b32);
  return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.out.op[2] != kNoRow &&
         c.emit(type == Type::b32 ? execute_match<uint32_t> : execute_match<uint64_t>);
}

template <auto F, class T>
Step execute_redux(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = warp.row<uint32_t>(in.op[2])[first_of(mask)];
  if (!warp.gather(in, members, false, mask)) return Step::rendezvous;
  const T* a = warp.row<T>(in.op[1]);
  T total = a[first_of(mask)];
  for_lanes(mask & (mask - 1), [&](uint32_t lane) { total = F(total, a[lane]); });
  T* d = warp.row<T>(in.op[0]);
  for_lanes(mask, [&](uint32_t lane) { d[lane] = total; });
  return Step::next;
}

constexpr auto kSum = [](auto a, auto b) {
  return static_cast<decltype(a)>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
};
constexpr auto kSmaller = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kLarger = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };

Execute pick_redux(const DecodeContext& c) {
  const bool is_signed = c.type() == Type::s32;
  if (c.has("add")) return execute_redux<kSum, uint32_t>;
  if (c.has("min"))
    return is_signed ? execute_redux<kSmaller, int32_t> : execute_redux<kSmaller, uint32_t>;
  if (c.has("max"))
    return is_signed ? execute_redux<kLarger, int32_t> : execute_redux<kLarger, uint32_t>;
  if (c.has("and")) return execute_redux<kAnd, uint32_t>;
  if (c.has("or")) return execute_redux<kOr, uint32_t>;
  return execute_redux<kXor, uint32_t>;
}

bool decode_redux(DecodeContext& c) {
  if (!c.only({"sync", "add", "min", "max", "and", "or", "xor"}) || c.type() == Type::f32) {
    return c.unknown();
  }
  return c.emit(pick_redux(c), Type::b32, {Type::b32, Type::b32});
}

Step execute_activemask(Warp& warp, const Instruction& in, uint32_t mask) {
  auto* d = warp.row<uint32_t>(in.op[0]);
  for_lanes(mask, [&](uint32_t lane) { d[lane] = mask; });
  return Step::next;
}

// The lowest lane of the members is elected.
Step execute_elect(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = warp.row<uint32_t>(in.op[1])[first_of(mask)];
  if (!warp.gather(in, members, false, mask)) return Step::rendezvous;
  const uint32_t leader = first_of(mask & members);
  if (in.op[0] != kNoRow) {
    auto* d = warp.row<uint32_t>(in.op[0]);
    for_lanes(mask, [&](uint32_t lane) { d[lane] = leader; });
  }
  uint32_t& p = warp.predicate(in.op[2]);
  p = (p & ~mask) | (1U << leader & mask);
  return Step::next;
}

bool decode_elect(DecodeContext& c) {
  if (!c.only({"sync"}) || !c.operand_count(2, 2) ||
      c.operand(0).kind != ast::Operand::Kind::pair) {
    return c.unknown();
  }
  const ast::Operand& d = c.operand(0);
  c.out.op[0] = c.destination(d.elements[0], Type::b32);
  c.out.op[2] = c.predicate_destination(d.elements[1]);
  c.out.op[1] = c.source(c.operand(1), Type::b32);
  return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.out.op[2] != kNoRow &&
         c.emit(execute_elect);
}

}  // namespace

void add_warp_operations(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::warp;
  set.add("shfl", decode_shfl, kClass);
  set.add("vote", decode_vote, kClass);
  set.add("match", decode_match, kClass);
  set.add("redux", decode_redux, kClass);
  set.add(
      "activemask",
      [](DecodeContext& c) {
        c.out.op[0] = c.destination(c.operand(0), Type::b32);
        return c.out.op[0] != kNoRow && c.emit(execute_activemask);
      },
      kClass);
  set.add("elect", decode_elect, kClass);
}

}  // namespace gemmtune::ptxsim
