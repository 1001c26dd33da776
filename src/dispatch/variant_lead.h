#pragma once

#include <cstdint>
#include <vector>

#include "core/problem.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// How many times as fast as the vendor's fastest algorithm a kernel has to be for it to be lent to
// a variant of its problem; and where it may have run at its card's power limit (power_limit.h).
// docs/decisions/0026-variants.md has what they come from.
inline constexpr double kLeadAtVariant = 1.02;
inline constexpr double kLeadAtVariantAtLimit = 1.08;

// A measured problem of the sizes, layout, math mode and alignment class of one that was not
// measured: with types as wide (f16 and bf16), another epilogue (but for scales of rows), or other
// leading dimensions and strides.
struct VariantLead {
  uint32_t number = 0;  // in the snapshot
  int differences = 0;  // the more, the further away
  Lead lead;
};

// All variants of `problem` that have a compared_lead(), the nearest first. Their rows and batch
// entries begin on multiples of as many bytes (up to 128). `problem` is comparable().
std::vector<VariantLead> variant_leads(const Snapshot& snapshot, const Problem& problem);

// The variants of `problem` in types and epilogue that are usual: with the other type as wide,
// without its activation, and without or with a bias; the nearest first.
std::vector<Problem> usual_variants(const Problem& problem);

}  // namespace gemmtune::dispatch
