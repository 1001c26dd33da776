#include "dispatch/product_call.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "core/elements.h"
#include "core/exact_integer.h"
#include "dispatch/c_structs.h"
#include "dispatch/thread_cache.h"
#include "vendor/cublaslt.h"

namespace gemmtune::dispatch {
namespace {

thread_local ThreadCache thread_cache;

// Whether the problem goes by the addresses of each call.
bool goes_by_addresses(const gemmtune_problem& problem) {
  return problem.struct_bytes < offsetof(gemmtune_problem, reserved) ||
         problem.align_bytes == GEMMTUNE_ALIGN_OF_POINTERS;
}

// A plan, ready to run, and how the caller's operands go into it.
struct Ready {
  PreparedPlan prepared;
  bool operands_swapped = false;
};

// From the table, or by making the plan.
Outcome<PreparedPlan> find_or_make(Dispatcher& dispatcher, const Request& request,
                                   CUstream stream) {
  if (const Plan* const plan = dispatcher.find(request)) return PreparedPlan{plan, nullptr};
  if (auto free = dispatcher.check_not_capturing(stream); !free)
    return tl::unexpected(free.error());
  return dispatcher.prepare(request);
}

// Without the thread's cache.
Outcome<Ready> find_or_prepare(Dispatcher& dispatcher, const gemmtune_problem* problem,
                               CUstream stream) {
  if (problem->struct_bytes == sizeof(gemmtune_problem)) {
    const auto packed = packed_request(*problem);
    const Plan* const plan = packed ? dispatcher.find(*packed) : nullptr;
    if (plan != nullptr) {
      thread_cache.put(dispatcher.serial(), *problem, plan, false);
      return Ready{{plan, nullptr}, false};
    }
  }
  const auto request = take_request(problem);
  if (!request) return tl::unexpected(request.error());
  auto prepared = find_or_make(dispatcher, *request, stream);
  if (!prepared) return tl::unexpected(prepared.error());
  Ready ready{*std::move(prepared), request->operands_swapped};
  if (!ready.prepared.own && problem->struct_bytes == sizeof(gemmtune_problem)) {
    thread_cache.put(dispatcher.serial(), *problem, ready.prepared.plan, ready.operands_swapped);
  }
  return ready;
}

// Whether the plan is for other biases only: cuBLASLt's reads them 16 bytes at a time.
bool is_for_other_bias(const Plan& plan, const void* bias) {
  if (!plan.has_bias()) return false;
  const auto address = reinterpret_cast<uintptr_t>(bias);
  return (address & (plan.bias_align_bytes() - 1)) != 0 &&
         (address & (plan.result_bytes() - 1)) == 0;
}

// By a plan for biases of any address.
[[gnu::cold]] Outcome<void> run_with_any_bias(Dispatcher& dispatcher,
                                              const gemmtune_problem* problem, Operands operands,
                                              size_t workspace_bytes, CUstream stream) {
  auto request = take_request(problem);
  if (!request) return tl::unexpected(request.error());
  request->any_bias_address = true;
  auto prepared = find_or_make(dispatcher, *request, stream);
  if (!prepared) {
    prepared.error().message += "; the address of the bias is no multiple of " +
                                std::to_string(vendor::kBiasAlignment) + " bytes";
    return tl::unexpected(prepared.error());
  }
  if (request->operands_swapped) exchange(operands);
  return dispatcher.run(*prepared->plan, operands, workspace_bytes, stream);
}

// A problem that states its alignment, or addresses that are multiples of what it is taken for.
Outcome<void> run_as_stated(Dispatcher& dispatcher, const gemmtune_problem* problem,
                            Operands operands, size_t workspace_bytes, CUstream stream) {
  const bool is_ours = problem->struct_bytes == sizeof(gemmtune_problem);
  const auto* const hit = is_ours ? thread_cache.find(dispatcher.serial(), *problem) : nullptr;
  if (hit != nullptr && !is_for_other_bias(*hit->plan, operands.bias)) {
    if (hit->operands_swapped) exchange(operands);
    return dispatcher.run(*hit->plan, operands, workspace_bytes, stream);
  }
  const auto ready = find_or_prepare(dispatcher, problem, stream);
  if (!ready) return tl::unexpected(ready.error());
  if (is_for_other_bias(*ready->prepared.plan, operands.bias))
    return run_with_any_bias(dispatcher, problem, operands, workspace_bytes, stream);
  if (ready->operands_swapped) exchange(operands);
  return dispatcher.run(*ready->prepared.plan, operands, workspace_bytes, stream);
}

// As one that states what its addresses, which are multiples of less than is usual, have.
[[gnu::cold]] Outcome<void> run_by_addresses(Dispatcher& dispatcher,
                                             const gemmtune_problem* problem,
                                             const Operands& operands, size_t workspace_bytes,
                                             CUstream stream) {
  auto stated = take_struct(problem, kProblemForm);
  if (!stated) return tl::unexpected(stated.error());
  const uintptr_t addresses = address_bits(operands);
  const int align = alignment_class(static_cast<int64_t>(addresses & -addresses));
  stated->align_bytes = static_cast<uint32_t>(align);
  auto done = run_as_stated(dispatcher, &*stated, operands, workspace_bytes, stream);
  const bool unprepared = !done && (done.error().status == GEMMTUNE_STATUS_NOT_PREPARED ||
                                    done.error().status == GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL);
  if (unprepared) {
    done.error().message += "; the addresses are multiples of " + std::to_string(align) +
                            " bytes only: put that into gemmtune_problem.align_bytes, also where "
                            "the problem is prepared";
  }
  return done;
}

bool wants_bias(const gemmtune_problem& problem) {
  return problem.struct_bytes >= offsetof(gemmtune_problem, activation) &&
         problem.bias != GEMMTUNE_BIAS_NONE;
}

bool is_older(const gemmtune_problem& problem) {
  return problem.struct_bytes == kFirstProblemBytes ||
         problem.struct_bytes == kSecondProblemBytes || problem.struct_bytes == kThirdProblemBytes;
}

// A problem of an older header as this one has it.
gemmtune_problem current_form(const gemmtune_problem& older) {
  gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
  std::memcpy(&problem, &older, older.struct_bytes);
  problem.struct_bytes = sizeof(problem);
  return problem;
}

bool has_other_scalars(const gemmtune_problem& problem) {
  return problem.struct_bytes >= kProblemForm.fewest_bytes &&
         problem.scalars >= GEMMTUNE_SCALARS_HOST_F16 &&
         problem.scalars <= GEMMTUNE_SCALARS_HOST_I32;
}

// Nothing for an integer that f32 may not have.
std::optional<float> other_scalar(const void* at, int32_t scalars) {
  if (scalars == GEMMTUNE_SCALARS_HOST_I32) {
    int32_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    return exact_f32(value);
  }
  if (scalars == GEMMTUNE_SCALARS_HOST_F64) {
    double value = 0;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<float>(value);
  }
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return f16_value(bits);
}

// As the same problem with f32 scalars.
[[gnu::cold]] Outcome<void> run_with_other_scalars(Dispatcher& dispatcher,
                                                   const gemmtune_problem* problem,
                                                   Operands operands, size_t workspace_bytes,
                                                   CUstream stream) {
  auto copy = take_struct(problem, kProblemForm);
  if (!copy) return tl::unexpected(copy.error());
  if (operands.alpha == nullptr || operands.beta == nullptr)
    return invalid("alpha or beta is a null pointer");
  const auto alpha = other_scalar(operands.alpha, copy->scalars);
  const auto beta = other_scalar(operands.beta, copy->scalars);
  if (!alpha || !beta) return invalid("alpha or beta is an integer above 2^24");
  copy->scalars = GEMMTUNE_SCALARS_HOST;
  operands.alpha = &*alpha;
  operands.beta = &*beta;
  return run_product(dispatcher, &*copy, operands, workspace_bytes, stream);
}

}  // namespace

Outcome<void> run_product(Dispatcher& dispatcher, const gemmtune_problem* problem,
                          const Operands& operands, size_t workspace_bytes, CUstream stream) {
  if (problem == nullptr) return invalid("gemmtune_problem is a null pointer");
  if (is_older(*problem)) {
    const gemmtune_problem current = current_form(*problem);
    return run_product(dispatcher, &current, operands, workspace_bytes, stream);
  }
  if (has_other_scalars(*problem))
    return run_with_other_scalars(dispatcher, problem, operands, workspace_bytes, stream);
  if (operands.bias == nullptr && wants_bias(*problem)) {
    return invalid(
        "the problem has a bias, and none is given: call gemmtune_run with it in "
        "gemmtune_operands.bias");
  }
  const bool usual = (address_bits(operands) & (kUsualAlignBytes - 1)) == 0;
  if (usual || !goes_by_addresses(*problem))
    return run_as_stated(dispatcher, problem, operands, workspace_bytes, stream);
  return run_by_addresses(dispatcher, problem, operands, workspace_bytes, stream);
}

Outcome<void> run_product(Dispatcher& dispatcher, const gemmtune_problem* problem,
                          const gemmtune_operands* operands, CUstream stream) {
  const bool is_ours = operands != nullptr && operands->struct_bytes == sizeof(gemmtune_operands);
  if (!is_ours) {
    const auto copy = take_struct(operands, kOperandsForm);
    if (!copy) return tl::unexpected(copy.error());
    return run_product(dispatcher, problem, &*copy, stream);
  }
  const gemmtune_operands& o = *operands;
  if (o.reserved != 0) return invalid("gemmtune_operands.reserved is not 0");
  return run_product(dispatcher, problem,
                     {o.a, o.b, o.c, static_cast<const float*>(o.alpha),
                      static_cast<const float*>(o.beta), o.workspace, o.bias, o.scale_a, o.scale_b},
                     o.workspace_bytes, stream);
}

}  // namespace gemmtune::dispatch
