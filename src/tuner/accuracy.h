#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/stream.h"
#include "tuner/benchmark.h"
#include "tuner/operand_sets.h"

namespace gemmtune::tuner {

// How far a result is off.
struct Accuracy {
  double max_error = 0;      // largest |c - exact| / sum |a||b|
  bool within_bound = true;  // error_bound() of verification_case.h, by every element
};

// Elements of C, spread over the matrix and its edges, whose exact values are known: how a result
// on the benchmark's own operands is judged without multiplying the matrices on the host.
class AccuracyProbe {
 public:
  // Recomputes the operands of `count` elements of set 0 and their products in fp64.
  AccuracyProbe(const Problem& problem, const OperandSets& sets, int count = 256);

  // Runs `enqueue` on set 0 and compares the elements.
  gpu::Result<Accuracy> measure(const OperandSets& sets, const gpu::Stream& stream,
                                const Enqueue& enqueue) const;

 private:
  struct Element {
    int64_t offset;  // in C, elements
    double exact;
    double magnitude;
  };

  Accuracy judged(std::span<const float> values) const;

  Problem problem_;
  std::vector<Element> elements_;
};

}  // namespace gemmtune::tuner
