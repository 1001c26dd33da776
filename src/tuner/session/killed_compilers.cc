#include "tuner/session/killed_compilers.h"

#include "jit/compile_again.h"

namespace gemmtune::tuner {
namespace {

constexpr int kMostInARow = 8;  // of any candidates

}  // namespace

Expected<bool> KilledCompilers::again(const store::CandidateKey& key,
                                      const jit::CompileFailure& failure) {
  error_ = jit::killed_error(failure);
  if (++in_a_row_ >= kMostInARow) return tl::unexpected(*error_);
  return ++times_[key] < jit::kMostTimesKilled;
}

}  // namespace gemmtune::tuner
