#include "dispatch/problem_index.h"

#include "dispatch/packed_problem.h"

namespace gemmtune::dispatch {
namespace {

constexpr uint32_t kPacked = 1U << 30;
constexpr size_t kFirstSize = 64;

int64_t contiguous(Order order, int64_t rows, int64_t columns) {
  return order == Order::row_major ? columns : rows;
}

bool is_packed(const Problem& p) {
  const Shape& s = p.shape;
  return p.batch == 1 && p.lda == contiguous(p.layout.a, s.m, s.k) &&
         p.ldb == contiguous(p.layout.b, s.k, s.n) && p.ldc == s.n;
}

// Of everything but the shape and what `kind` holds.
uint32_t hash_of_rest(const Problem& p) {
  uint64_t hash =
      fold(static_cast<uint64_t>(p.lda) ^ kSeedA, static_cast<uint64_t>(p.ldb) ^ kSeedB);
  hash = fold(hash ^ static_cast<uint64_t>(p.ldc), static_cast<uint64_t>(p.batch) ^ kSeedA);
  hash = fold(hash ^ static_cast<uint64_t>(p.stride_a), static_cast<uint64_t>(p.stride_b) ^ kSeedB);
  hash = fold(hash, static_cast<uint64_t>(p.stride_c) ^ kSeedA);
  return static_cast<uint32_t>(hash);
}

// Bits 20 to 28, all 0 without an epilogue and a result type.
uint32_t result_bits(const Problem& p) {
  const uint32_t result = p.result ? 1 + static_cast<uint32_t>(*p.result) : 0;
  return result << 20 | static_cast<uint32_t>(p.epilogue.bias) << 22 |
         static_cast<uint32_t>(p.epilogue.activation) << 24 |
         static_cast<uint32_t>(p.epilogue.scale) << 27;
}

// Sizes have 32 bits, as slots have for them.
uint64_t columns_key(int64_t n, int64_t k) {
  return static_cast<uint64_t>(n) << 32 | static_cast<uint32_t>(k);
}

uint32_t kind_of_any(const Problem& p) {
  return bits_of(p.layout.a, p.layout.b, static_cast<uint32_t>(p.align_bytes)) |
         static_cast<uint32_t>(p.type) | static_cast<uint32_t>(p.accumulator) << 4 |
         static_cast<uint32_t>(p.math) << 8 | result_bits(p);
}
static_assert(static_cast<int>(DataType::f32) == 0 && static_cast<int>(MathMode::ieee) == 0,
              "a PackedProblem's kind has no bits for them");

}  // namespace

std::optional<PackedProblem> packed(const Problem& p) {
  const bool usual = p.type == DataType::f32 && p.accumulator == DataType::f32 &&
                     p.math == MathMode::ieee && !p.result && p.epilogue == Epilogue{};
  if (!usual || !is_packed(p)) return std::nullopt;
  return PackedProblem{static_cast<uint32_t>(p.shape.m),
                       static_cast<uint32_t>(p.shape.n),
                       static_cast<uint32_t>(p.shape.k),
                       p.layout.a,
                       p.layout.b,
                       static_cast<uint32_t>(p.align_bytes)};
}

ProblemIndex::Slot ProblemIndex::slot_of(const Problem& p) {
  Slot slot;
  slot.m = static_cast<uint32_t>(p.shape.m);
  slot.n = static_cast<uint32_t>(p.shape.n);
  slot.k = static_cast<uint32_t>(p.shape.k);
  slot.kind = kind_of_any(p);
  if (is_packed(p)) {
    slot.kind |= kPacked;
  } else {
    slot.more = hash_of_rest(p);
  }
  return slot;
}

uint64_t ProblemIndex::hash_of(const Slot& slot) {
  return fold((uint64_t{slot.m} << 32 | slot.n) ^ kSeedA,
              (uint64_t{slot.k} << 32 | (slot.kind ^ slot.more)) ^ kSeedB);
}

uint64_t ProblemIndex::hash(const Problem& problem) {
  return hash_of(slot_of(problem));
}

// The slot that holds the problem, or the free one where it would go.
size_t ProblemIndex::place(const Slot& wanted, const Problem& problem) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_of(wanted);
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.kind == 0) return i;
    if (slot.m != wanted.m || slot.n != wanted.n || slot.k != wanted.k ||
        slot.kind != wanted.kind || slot.more != wanted.more) {
      continue;
    }
    if ((slot.kind & kPacked) != 0 || problems_[slot.number] == problem) return i;
  }
}

void ProblemIndex::grow() {
  slots_.assign(slots_.empty() ? kFirstSize : 2 * slots_.size(), Slot{});
  for (uint32_t number = 0; number < size(); ++number) {
    Slot slot = slot_of(problems_[number]);
    slot.number = number;
    slots_[place(slot, problems_[number])] = slot;
  }
}

std::pair<uint32_t, bool> ProblemIndex::add(const Problem& problem) {
  if (2 * (problems_.size() + 1) > slots_.size()) grow();
  Slot slot = slot_of(problem);
  Slot& at = slots_[place(slot, problem)];
  if (at.kind != 0) return {at.number, false};
  slot.number = size();
  at = slot;
  problems_.push_back(problem);
  of_columns_[columns_key(problem.shape.n, problem.shape.k)].push_back(slot.number);
  return {slot.number, true};
}

std::span<const uint32_t> ProblemIndex::of_columns(int64_t n, int64_t k) const {
  const auto found = of_columns_.find(columns_key(n, k));
  return found == of_columns_.end() ? std::span<const uint32_t>() : found->second;
}

uint32_t ProblemIndex::find(const Problem& problem) const {
  if (slots_.empty()) return kNone;
  const Slot& slot = slots_[place(slot_of(problem), problem)];
  return slot.kind == 0 ? kNone : slot.number;
}

}  // namespace gemmtune::dispatch
