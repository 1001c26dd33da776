#include "codegen/k_major_operands.h"

#include <fmt/format.h>

namespace gemmtune::codegen::k_major_operands {

KMajorLines lines_of_a(const Problem& problem) {
  return {problem.shape.m, problem.shape.k, problem.stride_a, problem.batch};
}
KMajorLines lines_of_b(const Problem& problem) {
  return {problem.shape.n, problem.shape.k, problem.stride_b, problem.batch};
}

KernelTraits k_major(const KernelTraits& traits) {
  KernelTraits out = traits;
  out.a_row_major = true;
  out.b_row_major = false;
  out.vector_a = out.vector_b = kVector;
  return out;
}

std::string preamble(std::string_view whose) {
  return fmt::format(
      "e: the elements of {0}, m (of A) and n (of B) lines of k for each batch entry, with k "
      "rounded up to multiples of {1}.\n"
      "t: the tiles of {2} lines, the last of an entry not full, and {1} of k in them.\n",
      whose, kKMajorDepth, kKMajorRows);
}

}  // namespace gemmtune::codegen::k_major_operands
