#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel_spec.h"
#include "core/problem.h"

namespace gemmtune::tuner {

// What the operands of a verification case hold.
enum class Fill {
  small_integers,  // every product and sum is exact, so the result must be bit-equal in any order
  random,          // uniform in [-1, 1), or of all i8: compared with an error bound
  special,         // random with a few NaN and Inf: they must reach exactly the elements IEEE says
};

// One problem that a kernel must solve before it may be measured.
struct VerificationCase {
  std::string name;  // "ragged integers, beta = 0"
  Problem problem;   // canonical
  float alpha = 1;
  float beta = 0;
  Fill fill = Fill::small_integers;
  uint64_t seed = 0;
  int bias_shift = 0;  // elements that the bias lies past a 16-byte line
};

// How far the cases go.
enum class Effort {
  quick,     // a handful: what every candidate passes before it is measured
  thorough,  // also edge sizes from 1 up, every alpha/beta pair, padding, batches
};

// Sizes from which a kernel's ragged cases are made; on a GPU several tiles, on the simulator as
// few elements as exercise every path.
struct CaseSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// Sizes that leave a ragged rest in every direction for `tile`: just over one block tile, and over
// two k tiles.
CaseSizes ragged_sizes(const TileConfig& tile);

// What the cases of a kernel depend on.
struct CaseKind {
  KernelTraits traits;
  DataType type = DataType::f32;         // of A and B
  DataType accumulator = DataType::f32;  // of the sums
  MathMode math = MathMode::ieee;
  std::optional<DataType> result{};  // of C and the bias; none: usual_result() of A and B
};
CaseKind kind_of(const codegen::KernelSpec& spec);
CaseKind kind_of(const Problem& problem);  // canonical

// A problem of at least these sizes whose operands satisfy what `kind.traits` promises and no more,
// so that traits_for(problem) == traits. `padding` is behind each row, and with a batch behind each
// C, in vectors of the traits' widths.
Problem case_problem(const CaseKind& kind, CaseSizes sizes, int64_t padding, int64_t batch);

// The cases for a kernel.
std::vector<VerificationCase> verification_cases(const CaseKind& kind, const CaseSizes& sizes,
                                                 Effort effort);

// The operands of a case in host memory, what C must become, and how far it may be off.
struct HostOperands {
  // A, B and C as they lie in memory from the first to the last element the problem touches, with
  // values that the problem's types have; elements between rows (padding) hold NaN in A and B, or
  // an integer that is none of the small ones: a kernel that uses one is caught.
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;        // before the product; as padding where beta = 0
  std::vector<float> bias;     // bias_elements() of the problem
  std::vector<float> scale_a;  // scale_elements() of the problem
  std::vector<float> scale_b;
  // Parallel to c; only elements of the matrix mean anything.
  std::vector<double> before;    // alpha * scaled sum + beta * c + bias
  std::vector<double> expected;  // its activation
  // |alpha| * scaled sum of |a||b| + |beta * c| + |bias|: what the error bound scales with.
  std::vector<double> magnitude;
};

// Fills the operands of `test` and computes the expected result in fp64, not rounded to its type.
HostOperands make_operands(const VerificationCase& test);

// Largest error that an element of C with the exact value `expected` may show: (8 sqrt(k) + 4) u
// `magnitude` for the sum of k products, with u of the accumulator (2^-24 for f32, 2^-11 for f16),
// the probabilistic bound of Higham and Mary (SIAM J. Sci. Comput. 41, 2019) with lambda = 8, at
// which a correct kernel fails with probability below 1e-13 per element; times the steepest slope
// of an activation, which itself may add 8 * 2^-24 `magnitude`; and for a C of 16 bits its
// rounding, u |expected| with u = 2^-11 for f16 and 2^-8 for bf16 (half the smallest f16 at least).
// Products in tf32 may be off by 2^-10 of themselves, those in 3xtf32 by 2^-19, those in f16 by
// 2^-10 + 2^-22, and by 2^-23 for operands that are subnormal there. Sums of e4m3 and e5m2
// products, which tensor cores cut off after 13 bits of the largest term, may be off by
// 40 * 2^-13 sqrt(P / k) `magnitude` as well, where P of k are summed before they are promoted
// (values of both signs). Sums of i8 are exact; as f32 they may be off by 2^-24 |expected|.
double error_bound(const Problem& problem, double magnitude, double expected);

}  // namespace gemmtune::tuner
