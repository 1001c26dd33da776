#include "cublas_preload/own/own_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "cublas_preload/log.h"
#include "cublas_preload/own/context_kernels.h"
#include "cublas_preload/own/heuristic.h"
#include "cublas_preload/own/scalar.h"
#include "cublas_preload/own/slower_here.h"
#include "cublas_preload/product_problem.h"

namespace gemmtune::cublas_preload {
namespace {

bool is_pedantic(const Product& product) {
  constexpr int kPedanticF16 = 65;
  constexpr int kPedanticF32 = 69;
  const auto compute = static_cast<int>(product.compute);
  const int mode = product.math_mode & ~vendor::blas::kFullPrecisionReduction;
  return compute == kPedanticF16 || compute == kPedanticF32 ||
         mode == static_cast<int>(vendor::blas::MathMode::pedantic);
}

// The problem, or why no own kernel may compute it, on whatever device.
Expected<Problem> eligible_problem(const Product& product, const RunSettings& settings) {
  const auto none = [](std::string why) {
    return make_error(ErrorKind::unsupported, std::move(why));
  };
  auto problem = problem_of(product);
  if (!problem) return problem;
  if (is_pedantic(product)) return none("pedantic math");
  if (settings.f32_is_cublas && problem->type == DataType::f32)
    return none("f32, which an environment variable of cuBLAS changes");
  if (product.beta == Beta::on_device && product.scale_type != lt::ElementType::f32)
    return none("f16 or i32 scalars in device memory");
  return problem;
}

bool has_bias(lt::Epilogue epilogue) {
  return (static_cast<uint32_t>(epilogue) & static_cast<uint32_t>(lt::Epilogue::bias)) != 0;
}

bool is_aligned(const void* address, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

}  // namespace

OwnKernels::OwnKernels(RunSettings settings, const RunDriver& driver, uint32_t capacity)
    : settings_(std::move(settings)),
      driver_(driver),
      capacity_(capacity),
      refused_(new std::atomic<bool>[capacity]()),
      slower_(new std::atomic<bool>[capacity]()) {}

OwnKernels::~OwnKernels() = default;

void OwnKernels::note(ProductRecord& record, Ran ran, const std::string& text, double own_us,
                      double vendor_us) {
  const std::lock_guard lock(mutex_);
  if (took_its_place(record.run.ran) && ran == Ran::cublas) return;  // on another device
  auto& place = record.run.text;
  const size_t kept = std::min(text.size(), place.size() - 1);
  std::memcpy(place.data(), text.data(), kept);
  place[kept] = '\0';
  record.run.ran = ran;
  record.run.tuned_us = own_us;
  record.run.tuned_vendor_us = vendor_us;
}

// What no device changes.
void OwnKernels::refuse(ProductRecord& record, size_t number, const std::string& why) {
  note(record, Ran::cublas, why);
  refused_[number].store(true, std::memory_order_relaxed);
}

// --- Contexts ------------------------------------------------------------------------------------

ContextKernels* OwnKernels::find_context(CUcontext current) const {
  for (const auto& slot : contexts_) {
    ContextKernels* const context = slot.load(std::memory_order_acquire);
    if (context == nullptr || context->context() == current) return context;
  }
  return nullptr;
}

// Whether it is still the context that was met first at that address.
bool OwnKernels::is_alive(const ContextKernels& context) const {
  unsigned long long id = 0;
  return driver_.ctx_get_id(context.context(), &id) == CUDA_SUCCESS && id == context.id();
}

ContextKernels* OwnKernels::find_or_make_context(CUcontext current) {
  unsigned long long id = 0;
  if (driver_.ctx_get_id(current, &id) != CUDA_SUCCESS) return nullptr;
  const std::lock_guard lock(mutex_);
  for (auto& slot : contexts_) {
    ContextKernels* const known = slot.load(std::memory_order_acquire);
    if (known != nullptr && known->context() != current) continue;
    if (known != nullptr && known->id() == id) return known;
    // What was there is of a context that is gone; others may still look at it.
    owned_.push_back(std::make_unique<ContextKernels>(current, id, settings_, driver_, capacity_));
    slot.store(owned_.back().get(), std::memory_order_release);
    return owned_.back().get();
  }
  return nullptr;
}

// --- Decisions -----------------------------------------------------------------------------------

const OwnPlan* OwnKernels::decide(CUcontext current, const Asked& asked, ProductRecord& record,
                                  size_t number, ContextKernels*& context) {
  const auto problem = eligible_problem(asked.product, settings_);
  if (!problem) {
    refuse(record, number, problem.error().message);
    return nullptr;
  }
  if (driver_.capture_of(asked.stream) != Capture::no) return nullptr;
  context = find_or_make_context(current);
  if (context == nullptr) return nullptr;
  const Decided decided = context->decide(number, asked.product, *problem);
  if (decided.text.empty()) return decided.plan;
  note(record, decided.ran, decided.text, decided.own_us, decided.vendor_us);
  return decided.plan;
}

const OwnPlan* OwnKernels::find_plan(const Asked& asked, ProductRecord& record, size_t number,
                                     ContextKernels*& context) {
  if (!driver_.usable()) {
    refuse(record, number, "no driver of CUDA 12 or newer");
    return nullptr;
  }
  CUcontext current = nullptr;
  if (driver_.ctx_get_current(&current) != CUDA_SUCCESS || current == nullptr) return nullptr;
  context = find_context(current);
  const OwnPlan* const plan = context == nullptr ? nullptr : context->find(number);
  if (plan != nullptr && (!plan->plan || is_alive(*context))) return plan;
  return decide(current, asked, record, number, context);
}

// --- Calls ---------------------------------------------------------------------------------------

// Of cublasLtMatmul. The heuristic is asked once for each product and algorithm.
bool OwnKernels::is_first_choice(const Asked& asked) {
  const auto known = first_choices_.find(asked.product, *asked.algorithm);
  if (known || asked.matmul == nullptr) return known.value_or(false);
  const bool is_first = names_first(*asked.matmul, asked.pointers, *asked.algorithm);
  first_choices_.note(asked.product, *asked.algorithm, is_first);
  return is_first;
}

bool OwnKernels::may_replace(const Asked& asked) {
  using Override = RunSettings::Override;
  if (asked.choice == AlgorithmChoice::cublas) return true;
  if (asked.choice == AlgorithmChoice::hint) return settings_.override != Override::never;
  if (settings_.override == Override::always) return asked.algorithm != nullptr;
  return settings_.override == Override::first && asked.algorithm != nullptr &&
         is_first_choice(asked);
}

// Whether the call's own arguments allow the kernel; with the scalars that it takes.
void OwnKernels::take_operands(const Asked& asked, ContextKernels& context, OwnCall& call) {
  const CallPointers& p = asked.pointers;
  const Product& product = asked.product;
  call.verdict = OwnCall::Verdict::detour;
  call.detour = Detour::operands;
  if (!asked.handle_known || p.a == nullptr || p.b == nullptr || p.d == nullptr ||
      p.alpha == nullptr || p.beta == nullptr)
    return;
  if (has_bias(product.epilogue) &&
      (p.bias == nullptr || !is_aligned(p.bias, call.plan->plan->bias_align_bytes())))
    return;
  if (product.scales != ProductScales::none &&
      (!is_aligned(p.scale_a, call.plan->plan->scale_align_bytes()) ||
       !is_aligned(p.scale_b, call.plan->plan->scale_align_bytes())))
    return;
  if (!call.plan->device_scalars) {
    const auto alpha = scalar_at(p.alpha, product.scale_type);
    const auto beta = scalar_at(p.beta, product.scale_type);
    // Where alpha is 0, cuBLAS need not look at A and B, whatever they hold.
    if (!alpha || !beta || *alpha == 0) return;
    call.alpha = *alpha;
    call.beta = *beta;
  }
  call.detour = Detour::algorithm;
  if (!may_replace(asked)) return;
  take_workspace(asked, context, call);
}

void OwnKernels::take_workspace(const Asked& asked, ContextKernels& context, OwnCall& call) const {
  const Capture capture = driver_.capture_of(asked.stream);
  call.captured = capture != Capture::no;
  call.detour = Detour::capture;
  if (capture == Capture::unknown) return;
  const auto bytes = static_cast<size_t>(call.plan->plan->workspace_bytes());
  call.detour = Detour::workspace;
  if (bytes > 0) {
    call.workspace = call.captured ? context.workspaces().for_capture(asked.stream, bytes)
                                   : context.workspaces().for_stream(asked.stream, bytes);
    if (call.workspace == nullptr) return;
    if (!call.captured) context.workspaces().prepare_captures(bytes);
  }
  call.context = &context;
  call.verdict = OwnCall::Verdict::own;
}

OwnCall OwnKernels::find(const Asked& asked, ProductRecord& record, size_t number) noexcept {
  OwnCall call;
  if (refused_[number].load(std::memory_order_relaxed)) return call;
  try {
    ContextKernels* context = nullptr;
    call.plan = find_plan(asked, record, number, context);
    if (call.plan == nullptr && !refused_[number].load(std::memory_order_relaxed)) {
      call.verdict = OwnCall::Verdict::detour;
      call.detour = Detour::capture;
    }
    if (call.plan == nullptr || !call.plan->plan) return call;
    if (call.plan->failed.load(std::memory_order_relaxed)) {
      call.verdict = OwnCall::Verdict::detour;
      call.detour = Detour::failure;
      return call;
    }
    if (slower_[number].load(std::memory_order_relaxed)) {
      call.verdict = OwnCall::Verdict::detour;
      call.detour = Detour::slower;
      return call;
    }
    take_operands(asked, *context, call);
    return call;
  } catch (const std::exception& error) {
    log_once("%s", error.what());
  } catch (...) {
    log_once("an unknown exception");
  }
  call = {};
  call.verdict = OwnCall::Verdict::detour;
  call.detour = Detour::failure;
  return call;
}

OwnKernels::Enqueued OwnKernels::enqueue(const OwnCall& call, const Asked& asked,
                                         ProductRecord& record) noexcept {
  try {
    const auto done = call.context->enqueue(call, asked);
    if (done) return Enqueued::all;
    const std::string what =
        record.run.ran == Ran::algorithm ? "an algorithm of cuBLASLt's" : "a kernel";
    log_once("%s failed%s, cuBLAS takes its place: %s", what.c_str(),
             done.error().c_changed ? " half way" : "", done.error().message.c_str());
    call.plan->failed.store(true, std::memory_order_relaxed);
    note(record, record.run.ran, what + " that failed: " + done.error().message);
    if (done.error().c_changed) return Enqueued::c_changed;
  } catch (const std::exception& error) {
    log_once("%s", error.what());
  } catch (...) {
    log_once("an unknown exception");
  }
  return Enqueued::nothing;
}

OwnKernels::Turn OwnKernels::next_turn(ProductRecord& record, size_t number) {
  // A pair of every 4 calls until there is enough to judge by, then of every 16, then of every 512.
  constexpr uint64_t kBeginning = 64;
  constexpr uint64_t kSome = 512;
  const uint64_t call =
      std::atomic_ref<uint64_t>(record.run.eligible_calls).fetch_add(1, std::memory_order_relaxed);
  if (!settings_.compare_times) return Turn::untimed;
  const uint64_t period = call < kBeginning ? 4 : call < kSome ? 16 : 512;
  const uint64_t place = call % period;
  if (place == 0 && is_slower_here(record.run.own, record.cublas))
    slower_[number].store(true, std::memory_order_relaxed);
  if (place == period / 2) return Turn::timed_cublas;
  return place == period - 1 ? Turn::timed_own : Turn::untimed;
}

}  // namespace gemmtune::cublas_preload
