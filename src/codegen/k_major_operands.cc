#include "codegen/k_major_operands.h"

#include <fmt/format.h>

#include "codegen/aligned_copies.h"

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
  out.vector_a = out.vector_b = kKMajorVector;
  return out;
}

std::vector<Quantity> quantities_of(char letter) {
  std::vector<Quantity> all = aligned_copies::quantities_of(letter, true, kKMajorDepth);
  all.push_back({fmt::format("tiles_{}", letter),
                 fmt::format("entries_{0} * ceil({1} / {2}) * (ld_{0} / {3})", letter,
                             letter == 'a' ? 'm' : 'n', kKMajorRows, kKMajorDepth),
                 "a block of the first kernel writes one"});
  return all;
}

wgmma::MatrixPlace place_of(const KMajorLines& copy, int64_t batch, char letter) {
  return {Buffer::workspace,
          0,
          copy.ld,
          copy.stride(),
          batch,
          fmt::format("ld_{}", letter),
          aligned_copies::stride_formula(letter),
          "batch"};
}

}  // namespace gemmtune::codegen::k_major_operands
