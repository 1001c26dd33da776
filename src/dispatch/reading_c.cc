#include "dispatch/reading_c.h"

#include "core/elements.h"

namespace gemmtune::dispatch {
namespace {

constexpr double kFixedUs = 1.2;
// Per MB of C, where its rows are whole 16 bytes.
constexpr double kF32UsPerMegabyte = 0.65;
constexpr double kOtherUsPerMegabyte = 0.4;
// Where they are not.
constexpr double kOddUsPerMegabyte = 4;

bool has_whole_rows(const Problem& p) {
  constexpr int64_t kBytes = 16;
  const int64_t element = size_bytes(result_type(p));
  const int64_t stride = p.batch > 1 ? p.stride_c : 0;
  return p.align_bytes % kBytes == 0 && p.ldc * element % kBytes == 0 &&
         stride * element % kBytes == 0;
}

double us_per_megabyte(const Problem& problem) {
  if (!has_whole_rows(problem)) return kOddUsPerMegabyte;
  return result_type(problem) == DataType::f32 ? kF32UsPerMegabyte : kOtherUsPerMegabyte;
}

}  // namespace

double most_for_reading_c_us(const Problem& problem) {
  return kFixedUs + us_per_megabyte(problem) * 1e-6 * static_cast<double>(bytes_c(problem));
}

}  // namespace gemmtune::dispatch
