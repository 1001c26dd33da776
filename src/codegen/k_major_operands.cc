#include "codegen/k_major_operands.h"

#include <fmt/format.h>

#include "codegen/aligned_copies.h"

namespace gemmtune::codegen::k_major_operands {
namespace {

constexpr int kElementBytes = 4;
constexpr int kEntry = 1;

// The first of the workspace.
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

}  // namespace

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

int64_t bytes(const Copied& copied, const Problem& problem) {
  return kElementBytes * ((copied.a ? lines_of_a(problem).elements() : 0) +
                          (copied.b ? lines_of_b(problem).elements() : 0));
}

wgmma::MatrixPlace place_of_a(const Problem& problem) {
  return place_of(lines_of_a(problem), problem.batch, 'a');
}
wgmma::MatrixPlace place_of_b(const Copied& copied, const Problem& problem) {
  wgmma::MatrixPlace place = place_of(lines_of_b(problem), problem.batch, 'b');
  if (copied.a) {
    place.offset_bytes = lines_of_a(problem).elements() * kElementBytes;
    place.offset_formula = fmt::format("{} * entries_a * plane_a", kElementBytes);
  }
  return place;
}

EntryPoint entry_point() {
  return {"_prepare", "prepare", kKMajorThreads, "kPrepareThreads"};
}

void add_work(const Copied& copied, const Problem& problem, KernelWork& work) {
  ++work.launches;
  work.reduction_bytes += 2 * bytes(copied, problem);
}

void add_launch(const KernelSpec& spec, const Copied& copied, const Problem& problem,
                LaunchPlan& plan) {
  const auto [a, b] = copied;
  using Quantities = std::vector<Quantity>;
  plan.quantities = aligned_copies::quantities_of_both(a ? quantities_of('a') : Quantities{},
                                                       b ? quantities_of('b') : Quantities{});
  const int64_t tiles =
      (a ? lines_of_a(problem).tiles() : 0) + (b ? lines_of_b(problem).tiles() : 0);
  plan.launches.insert(
      plan.launches.begin(),
      launch_of(spec, kEntry, {tiles, aligned_copies::sum_of_copies(a, b, "tiles_a", "tiles_b")}));
  plan.workspace_bytes = bytes(copied, problem);
  plan.workspace_formula =
      fmt::format("{} * {}", kElementBytes, aligned_copies::sum_of_copies(a, b));
}

}  // namespace gemmtune::codegen::k_major_operands
