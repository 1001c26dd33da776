#include "dispatch/plan.h"

#include <algorithm>
#include <utility>

#include "dispatch/kernel_loader.h"
#include "dispatch/vendor_access.h"

namespace gemmtune::dispatch {

tl::expected<void, launch::EnqueueError> Plan::enqueue(const Operands& o, CUstream stream) const {
  if (reading_c_ && *o.beta != 0.0f) return reading_c_->enqueue(o, stream);
  if (kernel_) {
    launch::Operands operands;
    operands.a = o.a;
    operands.b = o.b;
    operands.c = o.c;
    operands.workspace = o.workspace;
    operands.bias = o.bias;
    operands.scale_a = o.scale_a;
    operands.scale_b = o.scale_b;
    if (device_scalars_) {
      operands.alpha_device = o.alpha;
      operands.beta_device = o.beta;
    } else {
      operands.alpha = *o.alpha;
      operands.beta = *o.beta;
    }
    return kernel_->enqueue(operands, stream);
  }
  vendor::MatmulArgs args;
  args.a = o.a;
  args.b = o.b;
  args.c = o.c;
  args.workspace = o.workspace;
  args.workspace_bytes = workspace_bytes_;
  args.bias = o.bias;
  args.scale_a = o.scale_a;
  args.scale_b = o.scale_b;
  if (device_scalars_) {
    args.alpha_device = o.alpha;
    args.beta_device = o.beta;
  } else {
    args.alpha = *o.alpha;
    args.beta = *o.beta;
  }
  return vendor_->run(algorithm_, stream, args).map_error([](gpu::CudaError error) {
    return launch::EnqueueError(std::move(error));
  });
}

Outcome<void> Planner::realise(const Request& request, Choice& choice, Plan& plan) const {
  if (choice.route == Choice::Route::kernel) {
    auto kernel = kernels_.load(choice.spec);
    if (!kernel && choice.spec.traits.fetches_c) {
      choice.spec.traits.fetches_c = false;  // the usual kernel reads C too
      kernel = kernels_.load(choice.spec);
    }
    if (!kernel) return tl::unexpected(kernel.error());
    plan.kernel_ = (*kernel)->bind(request.problem);
    plan.workspace_bytes_ = plan.kernel_->workspace_bytes();
    return {};
  }
  auto algorithm = vendor_.find(request.problem, choice.vendor_config, request.device_scalars,
                                max_workspace_bytes(request, max_workspace_bytes_));
  if (!algorithm) {
    const bool final = algorithm.error().kind == ErrorKind::unsupported;
    return fail(final ? GEMMTUNE_STATUS_NO_KERNEL : GEMMTUNE_STATUS_CUDA,
                algorithm.error().message);
  }
  if (algorithm->is_default && choice.route == Choice::Route::vendor_algorithm) {
    choice.route = Choice::Route::vendor_default;
    choice.expected_us.reset();
    choice.origin.reset();
    choice.reason = "this cuBLASLt has no algorithm '" + choice.vendor_config + "', which was " +
                    "measured to be the fastest";
  }
  plan.vendor_ = std::move(algorithm->plan);
  plan.algorithm_ = algorithm->index;
  plan.workspace_bytes_ = plan.vendor_->workspace_bytes(plan.algorithm_);
  if (plan.has_bias()) plan.bias_align_bytes_ = vendor::kBiasAlignment;
  return {};
}

Outcome<std::unique_ptr<const Plan>> Planner::make(const Request& request, Decision decision,
                                                   std::optional<Decision> reading_c) const {
  auto plan = make_one(request, std::move(decision));
  if (!plan) return tl::unexpected(plan.error());
  if (reading_c && (*plan)->kernel_) add_reading_c(request, *std::move(reading_c), **plan);
  return *std::move(plan);
}

void Planner::add_reading_c(const Request& request, Decision decision, Plan& plan) const {
  auto other = make_one(request, std::move(decision));
  if (!other) return;
  const Choice& choice = (*other)->decision_.choices[(*other)->chosen_];
  if ((*other)->kernel_ && !choice.spec.traits.fetches_c) return;
  plan.decision_.choices[plan.chosen_].reason +=
      "; where beta is not 0: " + describe(choice) +
      ((*other)->kernel_ ? ", which fetches C while it multiplies" : "");
  plan.workspace_bytes_ = std::max(plan.workspace_bytes_, (*other)->workspace_bytes_);
  plan.reading_c_ = *std::move(other);
}

Outcome<std::unique_ptr<Plan>> Planner::make_one(const Request& request, Decision decision) const {
  auto plan = std::make_unique<Plan>();
  plan->device_scalars_ = request.device_scalars;
  plan->align_bytes_ = static_cast<uintptr_t>(request.problem.align_bytes);
  plan->result_bytes_ = static_cast<uintptr_t>(size_bytes(result_type(request.problem)));
  if (request.problem.epilogue.bias != kNoBias) plan->bias_align_bytes_ = plan->result_bytes_;
  if (request.problem.epilogue.scale != kNoScale)
    plan->scale_align_bytes_ = static_cast<uintptr_t>(scale_align_bytes(request.problem));
  plan->has_whole_scalars_ =
      request.problem.accumulator == DataType::i32 && !request.device_scalars;
  std::string reasons;
  for (const Rejection& rejection : decision.rejections)
    reasons += "; " + rejection.what + ": " + rejection.why;
  for (size_t i = 0; i < decision.choices.size(); ++i) {
    auto done = realise(request, decision.choices[i], *plan);
    if (done) {
      plan->chosen_ = i;
      plan->decision_ = std::move(decision);
      return plan;
    }
    if (done.error().status != GEMMTUNE_STATUS_NO_KERNEL) return tl::unexpected(done.error());
    decision.rejections.push_back({describe(decision.choices[i]), done.error().message});
    reasons += "; " + describe(decision.choices[i]) + ": " + done.error().message;
  }
  return fail(GEMMTUNE_STATUS_NO_KERNEL,
              "nothing here computes " + key(request.problem) +
                  (reasons.empty() ? ": no result is stored for a similar problem" : reasons));
}

}  // namespace gemmtune::dispatch
