#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "tuner/verify/verification_case.h"

namespace gemmtune::tuner {

enum class VerdictKind { correct, wrong_result, out_of_bounds, unwritten };

// Whether a kernel computes what it should. No kernel is measured without one.
struct Verdict {
  VerdictKind kind = VerdictKind::correct;
  std::string detail;    // the case and the first wrong element; empty if correct
  double max_error = 0;  // largest |c - expected| / magnitude over the random cases

  bool correct() const { return kind == VerdictKind::correct; }
};

// Elements before and after C that a kernel must leave as they are.
inline constexpr int64_t kGuardElements = 256;

// The value of guard element i: a NaN of the type with the index in its payload, so that a stray
// write of any value, NaN included, shows.
uint32_t guard_bits(int64_t i, DataType type);

// C with its guard zones: kGuardElements elements, those of HostOperands::c, kGuardElements
// elements. All of them are values that `type`, that of C, has.
std::vector<float> guarded(std::span<const float> c, DataType type);

// Compares what a kernel left behind (`image`, laid out as guarded()) with what it should have.
// Checks in this order: guards and padding untouched, every element written, values right.
Verdict judge(const VerificationCase& test, const HostOperands& host, std::span<const float> image);

// Verifies a kernel without a GPU (on the PTX simulator).
using HostVerifier = std::function<Expected<Verdict>(const codegen::KernelSpec&)>;

}  // namespace gemmtune::tuner
