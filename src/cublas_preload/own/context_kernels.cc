#include "cublas_preload/own/context_kernels.h"

#include <utility>

#include "cublas_preload/log.h"

namespace gemmtune::cublas_preload {
namespace {

// What every problem that cuBLAS computes has.
const OwnPlan& cublas_plan() {
  static const OwnPlan& plan = *new OwnPlan;  // for calls while the process ends
  return plan;
}

Decided cublas(std::string why) {
  return {&cublas_plan(), Ran::cublas, std::move(why), 0, 0};
}

dispatch::Outcome<std::unique_ptr<dispatch::Dispatcher>> make_dispatcher(
    const RunSettings& settings, size_t max_workspace_bytes) {
  dispatch::DispatcherOptions options;
  options.database = settings.database;
  options.pack = settings.pack;
  options.cache_dir = settings.cache_dir;
  options.driver_library = "libcuda.so.1";
  options.nvrtc_candidates = settings.nvrtc_candidates;
  // That of the program, where it has loaded one.
  options.cublaslt_names = settings.cublaslt_names;
  options.deterministic = settings.deterministic;
  options.max_workspace_bytes = static_cast<int64_t>(max_workspace_bytes);
  return dispatch::Dispatcher::create(options);
}

const dispatch::Choice& chosen(const dispatch::Plan& plan) {
  return plan.decision().choices[plan.chosen_index()];
}

std::string described(const dispatch::Plan& plan) {
  const dispatch::Choice& choice = chosen(plan);
  std::string text = dispatch::describe(choice);
  if (choice.origin) text += ", " + std::string(to_string(*choice.origin));
  if (choice.neighbour) text += ", " + choice.reason;
  if (choice.stale) text += ", stale";
  return text;
}

}  // namespace

ContextKernels::ContextKernels(CUcontext context, unsigned long long id,
                               const RunSettings& settings, const RunDriver& driver,
                               uint32_t capacity)
    : context_(context),
      id_(id),
      f32_math_(settings.f32_math),
      workspaces_(driver, Workspaces::Limits::of_device(driver.device_bytes())),
      plans_(new std::atomic<const OwnPlan*>[capacity]()) {
  auto dispatcher = make_dispatcher(settings, workspaces_.limits().of_one);
  if (dispatcher) {
    dispatcher_ = *std::move(dispatcher);
    if (!settings.pack.empty() && dispatcher_->tuned_problems() == 0) {
      log_once(
          "everything runs on cuBLAS: %s has no kernel that runs on this GPU; pack results of it",
          settings.pack.c_str());
    }
    return;
  }
  why_not_ = dispatcher.error().message;
  log_once("everything runs on cuBLAS: %s", why_not_.c_str());
}

Decided ContextKernels::choose(const Product& product, const Problem& problem) {
  if (!dispatcher_) return cublas(why_not_);
  if (f32_math_ && is_plain_f32(problem)) {
    Problem split = problem;
    split.math = *f32_math_;
    Decided decided = find_winner(product, split);
    decided.text += ", by " + std::string(to_string(split.math));
    if (decided.plan->plan) return decided;
  }
  return find_winner(product, problem);
}

Decided ContextKernels::find_winner(const Product& product, const Problem& problem) {
  dispatch::Request request;
  request.problem = dispatch::comparable(problem);
  request.operands_swapped = product.d.order == lt::Order::column_major;
  request.device_scalars = product.beta == Beta::on_device;
  request.reads_c = product.beta != Beta::zero;
  if (product.workspace_bytes != Product::kOwnWorkspace)
    request.program_workspace_bytes = product.workspace_bytes;
  auto prepared = dispatcher_->prepare_winner(request);
  if (!prepared) {
    if (prepared.error().status != GEMMTUNE_STATUS_NO_KERNEL)
      log_once("%s runs on cuBLAS: %s", key(problem).c_str(), prepared.error().message.c_str());
    return cublas(prepared.error().message);
  }
  const auto bytes = static_cast<size_t>(prepared->plan->workspace_bytes());
  if (bytes > 0) workspaces_.prepare_captures(bytes);
  auto own = std::make_unique<OwnPlan>();
  own->operands_swapped = request.operands_swapped;
  own->device_scalars = request.device_scalars;
  own->plan = std::move(prepared->plan);
  const bool is_kernel = chosen(*own->plan).route == dispatch::Choice::Route::kernel;
  std::string text = described(*own->plan);
  owned_.push_back(std::move(own));
  return {owned_.back().get(), is_kernel ? Ran::own : Ran::algorithm, std::move(text),
          prepared->own_us, prepared->vendor_us};
}

Decided ContextKernels::decide(size_t number, const Product& product, const Problem& problem) {
  const std::lock_guard lock(mutex_);
  if (const OwnPlan* const known = find(number); known != nullptr)
    return {known, Ran::undecided, "", 0, 0};
  Decided decided;
  try {
    decided = choose(product, problem);
  } catch (const std::exception& error) {
    log_once("%s", error.what());
    decided = cublas(error.what());
  }
  plans_[number].store(decided.plan, std::memory_order_release);
  return decided;
}

dispatch::Outcome<void> ContextKernels::enqueue(const OwnCall& call, const Asked& asked) const {
  const OwnPlan& own = *call.plan;
  dispatch::Operands operands;
  operands.a = asked.pointers.a;
  operands.b = asked.pointers.b;
  operands.c = const_cast<void*>(asked.pointers.d);
  operands.scale_a = asked.pointers.scale_a;
  operands.scale_b = asked.pointers.scale_b;
  if (own.operands_swapped) exchange(operands);
  operands.alpha =
      own.device_scalars ? static_cast<const float*>(asked.pointers.alpha) : &call.alpha;
  operands.beta = own.device_scalars ? static_cast<const float*>(asked.pointers.beta) : &call.beta;
  operands.bias = own.plan->has_bias() ? asked.pointers.bias : nullptr;
  operands.workspace = call.workspace;
  std::unique_lock<std::mutex> alone;
  if (call.workspace != nullptr) {
    const size_t number = reinterpret_cast<uintptr_t>(call.workspace) / Workspaces::kLeastBytes;
    alone = std::unique_lock(enqueueing_[number % enqueueing_.size()]);
  }
  return dispatcher_->run(*own.plan, operands, static_cast<size_t>(own.plan->workspace_bytes()),
                          asked.stream);
}

}  // namespace gemmtune::cublas_preload
