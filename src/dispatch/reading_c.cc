#include "dispatch/reading_c.h"

#include "core/elements.h"

namespace gemmtune::dispatch {
namespace {

constexpr double kFixedUs = 0.2;
constexpr double kUsPerMegabyte = 0.35;    // where rows of C are whole 16 bytes
constexpr double kOddUsPerMegabyte = 0.7;  // where they are not

bool has_whole_rows(const Problem& p) {
  constexpr int64_t kBytes = 16;
  const int64_t element = size_bytes(result_type(p));
  const int64_t stride = p.batch > 1 ? p.stride_c : 0;
  return p.align_bytes % kBytes == 0 && p.ldc * element % kBytes == 0 &&
         stride * element % kBytes == 0;
}

}  // namespace

double most_for_reading_c_us(const Problem& problem) {
  const double per_megabyte = has_whole_rows(problem) ? kUsPerMegabyte : kOddUsPerMegabyte;
  return kFixedUs + per_megabyte * 1e-6 * static_cast<double>(bytes_c(problem));
}

}  // namespace gemmtune::dispatch
