#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/problem.h"
#include "dispatch/failure.h"
#include "dispatch/packed_problem.h"

namespace gemmtune::dispatch {

// What the caller of the C interface asks for, in this project's own terms.
struct Request {
  Problem problem;                // valid and comparable()
  bool operands_swapped = false;  // the caller's A is the problem's B
  bool device_scalars = false;
  bool reads_c = false;  // beta may be other than 0: decisions go by it, plans are for both
  // The bias may lie anywhere, which cuBLASLt cannot take: kernels without a workspace only.
  bool any_bias_address = false;
  // Tighter than the handle's, for this problem alone; nothing: as the handle's are.
  bool deterministic = false;
  std::optional<int64_t> max_workspace_bytes = std::nullopt;
  // What the program that the product is taken from gives cuBLASLt as a workspace; nothing: as much
  // as its algorithms want.
  std::optional<int64_t> program_workspace_bytes = std::nullopt;

  bool has_own_limits() const { return deterministic || max_workspace_bytes.has_value(); }
};

// The usual request in short.
struct PackedRequest {
  PackedProblem problem;
  bool device_scalars = false;
};

// Nothing for what is no usual problem, right or wrong: then parse_request() has the answer. Else
// what that would give, without the detours that messages take: this is on the way of every call
// whose problem the thread did not use just before.
std::optional<PackedRequest> packed_request(const gemmtune_problem& problem);

// Bytes of a gemmtune_problem of the first header, which had neither epilogues nor result types.
inline constexpr size_t kFirstProblemBytes = offsetof(gemmtune_problem, result_type);
// Of the second one, which had no workspace limit of its own.
inline constexpr size_t kSecondProblemBytes = offsetof(gemmtune_problem, max_workspace_bytes);
// Of the third one, which had no scales.
inline constexpr size_t kThirdProblemBytes = offsetof(gemmtune_problem, scale);

// INVALID_ARGUMENT, with what is wrong, for anything that is no problem. One that states no
// alignment is taken for one of kUsualAlignBytes.
Outcome<Request> parse_request(const gemmtune_problem& problem);

// The form that problems are compared in: canonical, with strides of 0 where there is no batch, and
// an alignment class for the alignment.
Problem comparable(const Problem& problem);

}  // namespace gemmtune::dispatch
