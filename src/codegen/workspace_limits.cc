#include "codegen/workspace_limits.h"

namespace gemmtune::codegen {
namespace {

// The most of those that neither split nor copy large operands.
constexpr int64_t kOwnWorkspaceBytes = int64_t{256} << 20;

// Whether kernels may split operands into planes, which those on wgmma do.
bool is_of_planes(MathMode math, Arch arch) {
  constexpr int kHopper = 9;
  return is_split(math) && arch.major == kHopper;
}

}  // namespace

int64_t candidate_workspace_bytes(const Problem& problem, Arch arch) {
  if (is_of_planes(problem.math, arch)) return kMostPlanesBytes;
  const bool large = bytes_a(problem) + bytes_b(problem) > kOwnWorkspaceBytes / 2;
  const bool copies = problem.type != DataType::f32 || problem.math == MathMode::tf32;
  return copies && large ? kMostCopiesBytes : kOwnWorkspaceBytes;
}

}  // namespace gemmtune::codegen
