#pragma once

#include <cstdint>
#include <vector>

#include "codegen/strategy.h"
#include "codegen/wgmma_rules.h"

#include "parts/shared/k_major_lines.h"

// What strategies share on the host that write operands of f32 anew with k contiguous, before their
// main kernel reads what was written (parts/operand/k_major_copy.cuh).

namespace gemmtune::codegen::k_major_operands {

inline constexpr int64_t kMostTiles = int64_t{1} << 31;  // a grid has fewer

KMajorLines lines_of_a(const Problem& problem);
KMajorLines lines_of_b(const Problem& problem);

// Those of the problem as the main kernel sees them, from those of the caller.
KernelTraits k_major(const KernelTraits& traits);

// What launch notes name of the lines of operand `letter`: ld_a, plane_a, entries_a, and tiles_a,
// which blocks write one each (parts/shared/k_major_lines.h).
std::vector<Quantity> quantities_of(char letter);

// Which operands are copied as they are, that of A before that of B where both are.
struct Copied {
  bool a = false;
  bool b = false;

  bool any() const { return a || b; }
};

// Of the copies, which are all of the workspace.
int64_t bytes(const Copied& copied, const Problem& problem);

// Where they lie. Preconditions: the operand is copied.
wgmma::MatrixPlace place_of_a(const Problem& problem);
wgmma::MatrixPlace place_of_b(const Copied& copied, const Problem& problem);

// The copying kernel, as the second entry point, and its launch before the others of `plan`.
EntryPoint entry_point();
void add_work(const Copied& copied, const Problem& problem, KernelWork& work);
void add_launch(const KernelSpec& spec, const Copied& copied, const Problem& problem,
                LaunchPlan& plan);

}  // namespace gemmtune::codegen::k_major_operands
