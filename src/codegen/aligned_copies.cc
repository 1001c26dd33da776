#include "codegen/aligned_copies.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "codegen/workspace_limits.h"

#include "parts/shared/aligned_lines.h"

namespace gemmtune::codegen::aligned_copies {
namespace {

constexpr int64_t kMostChunks = int64_t{1} << 31;  // of 16 bytes
constexpr int kEntry = 1;

// Copies are counted in elements of 16 bits.
constexpr int kHalfBytes = 2;
constexpr int kChunkBytes = kAlignedVector * kHalfBytes;

// Elements of a type in one of those.
int of_half(DataType type) {
  return kHalfBytes / size_bytes(type);
}

bool is_copied(const KernelSpec& spec, int vector) {
  return vector < kAlignedVector * of_half(spec.type);
}

// What `k` elements are, rounded up; 8-bit operands lie along k.
int64_t halves_of(const Problem& p, int64_t k) {
  return (k + of_half(p.type) - 1) / of_half(p.type);
}

constexpr std::array kRules = {
    Rule{"an operand that 16 bytes do not divide", "without one there is nothing to copy",
         [](const RuleInput& in) {
           return is_copied(in.spec, in.spec.traits.vector_a) ||
                  is_copied(in.spec, in.spec.traits.vector_b);
         }},
};

AlignedLines lines_of_a(const Problem& p, bool row_major) {
  return {row_major, p.shape.m, halves_of(p, p.shape.k), p.stride_a, p.batch};
}
AlignedLines lines_of_b(const Problem& p, bool row_major) {
  return {!row_major, p.shape.n, halves_of(p, p.shape.k), p.stride_b, p.batch};
}

std::optional<AlignedLines> copied_a(const KernelSpec& spec, const Problem& p) {
  if (!is_copied(spec, spec.traits.vector_a)) return std::nullopt;
  return lines_of_a(p, spec.traits.a_row_major);
}
std::optional<AlignedLines> copied_b(const KernelSpec& spec, const Problem& p) {
  if (!is_copied(spec, spec.traits.vector_b)) return std::nullopt;
  return lines_of_b(p, spec.traits.b_row_major);
}

// The sum of what the copied operands have, over all batch entries.
int64_t of_copies(const KernelSpec& spec, const Problem& p,
                  long long (AlignedLines::*count)() const) {
  int64_t sum = 0;
  for (const auto& copied : {copied_a(spec, p), copied_b(spec, p)})
    if (copied) sum += ((*copied).*count)();
  return sum;
}

int64_t bytes(const KernelSpec& spec, const Problem& p) {
  return of_copies(spec, p, &AlignedLines::elements) * kHalfBytes;
}

// Adds what formulas name to a plan, and says how many elements are copied.
std::string take_quantities(const KernelSpec& spec, LaunchPlan& plan) {
  const bool a = is_copied(spec, spec.traits.vector_a);
  const bool b = is_copied(spec, spec.traits.vector_b);
  const int unit = kLineUnit * of_half(spec.type);
  using Quantities = std::vector<Quantity>;
  plan.quantities =
      quantities_of_both(a ? quantities_of('a', spec.traits.a_row_major, unit) : Quantities{},
                         b ? quantities_of('b', !spec.traits.b_row_major, unit) : Quantities{});
  return sum_of_copies(a, b);
}

// Pieces of all lines that are copied, by the quantities of a plan.
std::string pieces_formula(const KernelSpec& spec) {
  const int piece = kCopyPiece * of_half(spec.type);
  const auto of = [piece](char letter, std::string_view lines) {
    return fmt::format("entries_{0} * {1} * ceil(ld_{0} / {2})", letter, lines, piece);
  };
  return sum_of_copies(is_copied(spec, spec.traits.vector_a), is_copied(spec, spec.traits.vector_b),
                       of('a', spec.traits.a_row_major ? "m" : "k"),
                       of('b', spec.traits.b_row_major ? "k" : "n"));
}

// The copying kernel's.
BlockCount grid(const KernelSpec& spec, const Problem& p) {
  const int64_t pieces = of_copies(spec, p, &AlignedLines::pieces);
  return {(pieces + kCopyPiecesOfBlock - 1) / kCopyPiecesOfBlock,
          fmt::format("ceil({} / {})", pieces_formula(spec), kCopyPiecesOfBlock)};
}

}  // namespace

std::vector<Quantity> quantities_of(char letter, bool contiguous_k, int unit) {
  const std::string_view own = letter == 'a' ? "m" : "n";
  const std::string_view along = contiguous_k ? "k" : own;
  const std::string_view lines = contiguous_k ? own : "k";
  const char name = letter == 'a' ? 'A' : 'B';
  return {{fmt::format("ld_{}", letter), fmt::format("ceil({} / {}) * {}", along, unit, unit),
           fmt::format("elements from line to line of {} in the workspace", name)},
          {fmt::format("plane_{}", letter), fmt::format("{} * ld_{}", lines, letter),
           "of all lines of a batch entry"},
          {fmt::format("entries_{}", letter), fmt::format("(stride_{} == 0 ? 1 : batch)", letter),
           "of the batch"}};
}

std::vector<Quantity> quantities_of_both(std::vector<Quantity> of_a, std::vector<Quantity> of_b) {
  of_a.insert(of_a.end(), std::make_move_iterator(of_b.begin()),
              std::make_move_iterator(of_b.end()));
  return of_a;
}

std::string sum_of_copies(bool a, bool b, std::string_view of_a, std::string_view of_b) {
  if (!b) return std::string(of_a);
  if (!a) return std::string(of_b);
  return fmt::format("({} + {})", of_a, of_b);
}

std::string stride_formula(char letter) {
  return fmt::format("(batch == 1 ? ld_{0} : entries_{0} == 1 ? 0 : plane_{0})", letter);
}

std::string offset_of_b_formula(const KernelSpec& spec) {
  if (!is_copied(spec, spec.traits.vector_a)) return "0";
  return fmt::format("{} * entries_a * plane_a", size_bytes(spec.type));
}

std::optional<Copy> copy_of_a(const KernelSpec& spec, const Problem& problem) {
  const auto a = copied_a(spec, problem);
  if (!a) return std::nullopt;
  return Copy{0, a->ld * of_half(spec.type), a->stride() * of_half(spec.type)};
}

std::optional<Copy> copy_of_b(const KernelSpec& spec, const Problem& problem) {
  const auto b = copied_b(spec, problem);
  if (!b) return std::nullopt;
  const auto a = copied_a(spec, problem);
  return Copy{a ? a->elements() * kHalfBytes : 0, b->ld * of_half(spec.type),
              b->stride() * of_half(spec.type)};
}

Expected<void> supports(const Problem& problem) {
  if (problem.type == DataType::f32)
    return make_error(ErrorKind::unsupported, "computes types of 8 and 16 bits only");
  const int64_t most = lines_of_a(problem, problem.layout.a == Order::row_major).elements() +
                       lines_of_b(problem, problem.layout.b == Order::row_major).elements();
  if (most / kAlignedVector > kMostChunks)
    return make_error(ErrorKind::unsupported, "copies at most 32 GB of operands");
  return {};
}

std::span<const Rule> rules() {
  return kRules;
}

KernelTraits aligned(const KernelTraits& traits, DataType copied) {
  KernelTraits out = traits;
  out.vector_a = out.vector_b = kAlignedVector * of_half(copied);
  return out;
}

bool worthwhile(const KernelSpec& spec, const Problem& problem) {
  return bytes(spec, problem) <= kMostCopiesBytes;
}

void add_work(const KernelSpec& spec, const Problem& problem, KernelWork& work) {
  ++work.launches;
  work.reduction_bytes += 2 * bytes(spec, problem);
}

EntryPoint entry_point() {
  return {"_prepare", "prepare", kCopyThreads, "kPrepareThreads"};
}

void add_launch(const KernelSpec& spec, const Problem& problem, LaunchPlan& plan) {
  const std::string elements = take_quantities(spec, plan);
  plan.launches.insert(plan.launches.begin(), launch_of(spec, kEntry, grid(spec, problem)));
  plan.workspace_bytes = bytes(spec, problem);
  plan.workspace_formula = fmt::format("{} * {}", size_bytes(spec.type), elements);
  plan.limit =
      fmt::format("{} is at most {}.", elements, kMostChunks * kChunkBytes / size_bytes(spec.type));
}

}  // namespace gemmtune::codegen::aligned_copies
