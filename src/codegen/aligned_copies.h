#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/strategy.h"

// What strategies share on the host that copy operands of 8 or 16 bits which 16 bytes do not
// divide, before their main kernel reads the copies (parts/operand/aligned_copy.cuh).

namespace gemmtune::codegen::aligned_copies {

// Where an operand's copy lies in the workspace; leading dimension and stride in elements.
struct Copy {
  int64_t offset_bytes = 0;
  int64_t ld = 0;
  int64_t stride = 0;
};

// None where the operand is not copied.
std::optional<Copy> copy_of_a(const KernelSpec& spec, const Problem& problem);
std::optional<Copy> copy_of_b(const KernelSpec& spec, const Problem& problem);

// What launch notes name of the lines of operand `letter`, which the strategy copies in lines of
// multiples of `unit` elements (parts/shared/aligned_lines.h): ld_a, plane_a, entries_a.
std::vector<Quantity> quantities_of(char letter, bool contiguous_k, int unit);

// Those of A and of B, and the sum of what they have, as "entries_a * plane_a"; of one of them
// where the other is not copied.
std::vector<Quantity> quantities_of_both(std::vector<Quantity> of_a, std::vector<Quantity> of_b);
std::string sum_of_copies(bool a, bool b, std::string_view of_a = "entries_a * plane_a",
                          std::string_view of_b = "entries_b * plane_b");

// Where operand `letter` is copied: what launch notes call the distance of its batch entries, and
// where the copy of B begins, in bytes.
std::string stride_formula(char letter);
std::string offset_of_b_formula(const KernelSpec& spec);

// An error for other types, and for more than the copying kernel counts.
Expected<void> supports(const Problem& problem);

// One of the operands needs it.
std::span<const Rule> rules();
// Those of the problem that the main kernel sees, of operands of type `copied`.
KernelTraits aligned(const KernelTraits& traits, DataType copied);

// Whether a search should try it: copies of a few hundred MB at the most.
bool worthwhile(const KernelSpec& spec, const Problem& problem);
void add_work(const KernelSpec& spec, const Problem& problem, KernelWork& work);

// The copying kernel, as the second entry point, and its launch before the others of `plan`.
EntryPoint entry_point();
void add_launch(const KernelSpec& spec, const Problem& problem, LaunchPlan& plan);

}  // namespace gemmtune::codegen::aligned_copies
