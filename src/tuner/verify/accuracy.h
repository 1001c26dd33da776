#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/stream.h"
#include "tuner/measure/benchmark.h"
#include "tuner/measure/operand_sets.h"

namespace gemmtune::tuner {

// How far a result is off.
struct Accuracy {
  double max_error = 0;      // largest |c - exact| / sum |a||b|
  bool within_bound = true;  // error_bound() of verification_case.h, by every element
};

// Whether kernels are held against every algorithm of cuBLASLt's, and not against the fastest
// alone: plain f32, for which a caller may get any of them. One that splits k has a fraction of the
// error of one that does not (docs/decisions/0009-f32-error.md).
bool held_against_all(const Problem& problem);

// Why a kernel of max_error `error` may not compute the problem: it is of plain f32, whose order of
// additions is free, and has more than twice the vendor's error on the same operands, or of a mode
// as accurate as f32, and has more. Nothing where it may, or where the vendor's error is not known.
std::optional<std::string> too_inaccurate(const Problem& problem, double error,
                                          std::optional<double> vendor_error);

// Elements of C, in runs spread over the matrix, whose exact values are known: how a result on the
// benchmark's own operands is judged without multiplying the matrices on the host.
class AccuracyProbe {
 public:
  // Recomputes the operands of so many runs of set 0, each of up to 8 elements of a row of one
  // matrix of the batch and the first of them at C's end, and their products in fp64.
  AccuracyProbe(const Problem& problem, const OperandSets& sets, int runs = 32);

  // Runs `enqueue` on set 0, whose C holds NaN before, and compares the elements.
  gpu::Result<Accuracy> measure(const OperandSets& sets, const gpu::Stream& stream,
                                const Enqueue& enqueue) const;

 private:
  struct Element {
    double exact;
    double magnitude;
  };
  struct Run {
    int64_t offset;  // in C, elements
    std::vector<Element> elements;
  };
  // Where the operands of set 0 come from.
  struct Origins {
    OperandSets::Origin a;
    OperandSets::Origin b;
    OperandSets::Origin bias;
    OperandSets::Origin scale_a;
    OperandSets::Origin scale_b;
  };

  Element exact_element(const Origins& origins, int64_t row, int64_t column) const;
  Accuracy judged(std::span<const float> values) const;

  Problem problem_;
  std::vector<Run> runs_;
};

}  // namespace gemmtune::tuner
