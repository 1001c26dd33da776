#pragma once

#include "parts/shared/epilogue.h"

// What a kernel is specialised on besides its tile and types: storage orders, the alignment class,
// the epilogue, what L2 need not keep, and whether C is read.

namespace gemmtune {

struct KernelTraits {
  bool a_row_major = true;  // A is m x k; row-major means contiguous along k
  bool b_row_major = true;  // B is k x n; row-major means contiguous along n
  // Elements one global access moves. A width w > 1 promises that base pointer, leading dimension,
  // batch stride and the contiguous extent are all multiples of w elements.
  int vector_a = 1;
  int vector_b = 1;
  int vector_c = 1;
  Epilogue epilogue = {};
  // Whether L2 forgets B first, so that what is read again stays: C, for example.
  bool b_read_once = false;
  // Whether what C holds is fetched while its tile is multiplied: for a beta other than 0.
  bool fetches_c = false;

  constexpr bool operator==(const KernelTraits&) const = default;
};

}  // namespace gemmtune
