#include "dispatch/dispatcher.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "core/exact_integer.h"
#include "core/parallel.h"
#include "dispatch/snapshot_source.h"

namespace gemmtune::dispatch {
namespace {

constexpr int kMostThreads = 8;
constexpr uintptr_t kWorkspaceAlignment = 256;  // what cuBLASLt asks for

uint64_t next_serial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

// The context that a handle is to live in: the calling thread's where it is of the device, else the
// device's primary one.
Outcome<std::shared_ptr<gpu::Context>> find_context(
    const std::shared_ptr<const gpu::Driver>& driver, int device, size_t device_count) {
  auto current = gpu::Context::current(driver);
  if (!current) return fail(current.error());
  const bool fits =
      *current && (device == GEMMTUNE_CURRENT_DEVICE || (*current)->ordinal() == device);
  if (fits) return *std::move(current);
  const int ordinal = std::max(device, 0);
  if (device < GEMMTUNE_CURRENT_DEVICE || static_cast<size_t>(ordinal) >= device_count) {
    return fail(GEMMTUNE_STATUS_INVALID_ARGUMENT,
                "gemmtune_options.device is " + std::to_string(device) +
                    ", this machine has devices 0.." + std::to_string(device_count - 1));
  }
  auto primary = gpu::Context::retain(driver, ordinal);
  if (!primary) return fail(primary.error());
  return *std::move(primary);
}

// Makes `context` current unless it is.
Outcome<std::optional<gpu::ScopedContext>> enter(const gpu::Context& context) {
  CUcontext current = nullptr;
  if (context.api().ctx_get_current(&current) == CUDA_SUCCESS && current == context.handle())
    return std::nullopt;
  auto scope = context.enter();
  if (!scope) return fail(scope.error());
  return *std::move(scope);
}

// What is wrong with a bias, for a plan that has one or a call that gives one; null if nothing is.
const char* problem_of_bias(const Plan& plan, const void* bias) {
  if (!plan.has_bias())
    return "gemmtune_operands.bias is set, but gemmtune_problem.bias is GEMMTUNE_BIAS_NONE";
  if (bias == nullptr) return "the bias is a null pointer";
  if ((reinterpret_cast<uintptr_t>(bias) & (plan.result_bytes() - 1)) != 0)
    return "the bias is not aligned to the size of its elements";
  return nullptr;
}

// The same of scales.
const char* problem_of_scales(const Plan& plan, const Operands& operands) {
  if (!plan.has_scales())
    return "gemmtune_operands has scales, but gemmtune_problem.scale is GEMMTUNE_SCALE_NONE";
  if (operands.scale_a == nullptr || operands.scale_b == nullptr) {
    return "the operands are scaled, and a scale is a null pointer: call gemmtune_run with "
           "gemmtune_operands.scale_a and scale_b";
  }
  const auto bits =
      reinterpret_cast<uintptr_t>(operands.scale_a) | reinterpret_cast<uintptr_t>(operands.scale_b);
  if (bits % plan.scale_align_bytes() == 0) return nullptr;
  return plan.scale_align_bytes() == alignof(float) ? "a scale is not aligned to 4 bytes"
                                                    : "a scale is not aligned to 16 bytes";
}

// What f32 and i32 both have.
bool is_whole(float scalar) {
  return std::abs(scalar) <= static_cast<float>(kMostExactInF32) && scalar == std::trunc(scalar);
}

}  // namespace

Outcome<std::unique_ptr<Dispatcher>> Dispatcher::create(const DispatcherOptions& options) {
  gpu::DriverOptions driver_options;
  driver_options.library = options.driver_library;
  auto driver = gpu::Driver::load(std::move(driver_options));
  if (!driver) return fail(GEMMTUNE_STATUS_NO_DEVICE, driver.error().message);
  const auto devices = (*driver)->devices();
  if (!devices) return fail(devices.error());
  auto context = find_context(*driver, options.device, devices->size());
  if (!context) return tl::unexpected(context.error());
  const Device& device = devices->at(static_cast<size_t>((*context)->ordinal()));
  const auto arch = newest_arch(device.arch);
  if (!arch) {
    return fail(GEMMTUNE_STATUS_NO_DEVICE, device.name + " is " + to_string(device.arch) +
                                               ", which gemm-tune has no code for");
  }
  Target target;
  target.limits = device_limits(device, *arch);
  target.arch = device.arch;
  target.vendor = !options.cublaslt_names.empty();
  target.deterministic = options.deterministic;
  target.max_workspace_bytes = options.max_workspace_bytes;

  KernelImages::Sources sources;
  sources.nvrtc_candidates = options.nvrtc_candidates;
  sources.may_compile = !options.nvrtc_candidates.empty();
  if (!options.cache_dir.empty())
    sources.cache = std::make_shared<jit::CubinCache>(options.cache_dir);
  Expected<Snapshot> snapshot;
  if (options.pack.empty()) {
    snapshot = read_database(options.database, device);
  } else {
    auto pack = Pack::open(options.pack);
    if (!pack) return fail(GEMMTUNE_STATUS_DATABASE, pack.error().message);
    snapshot = read_pack(**pack, device);
    sources.pack = *std::move(pack);
  }
  if (!snapshot) return fail(GEMMTUNE_STATUS_DATABASE, snapshot.error().message);
  return std::unique_ptr<Dispatcher>(new Dispatcher(options, *std::move(context), std::move(target),
                                                    *std::move(snapshot),
                                                    KernelImages(std::move(sources))));
}

Dispatcher::Dispatcher(const DispatcherOptions& options,
                       std::shared_ptr<const gpu::Context> context, Target target,
                       Snapshot snapshot, KernelImages images)
    : serial_(next_serial()),
      threads_(thread_count(options.threads)),
      context_(std::move(context)),
      target_(std::move(target)),
      snapshot_(std::move(snapshot)),
      kernels_(context_, std::move(images)),
      vendor_(context_, options.cublaslt_names),
      planner_(kernels_, vendor_, options.max_workspace_bytes),
      plans_(snapshot_.problems) {}

Outcome<PreparedPlan> Dispatcher::prepare(const Request& request) {
  if (const Plan* ready = plans_.find(request)) return PreparedPlan{ready, nullptr};
  Decision decision = decide(request);
  auto reading_c = decide_reading_c(request, decision);
  auto made = planner_.make(request, std::move(decision), std::move(reading_c));
  if (!made) return tl::unexpected(made.error());
  PreparedPlan prepared{nullptr, *std::move(made)};
  prepared.plan = plans_.add(request, prepared.own);
  if (prepared.plan == nullptr) prepared.plan = prepared.own.get();
  return prepared;
}

// What else is to run where beta is not 0; nothing where that is what `usual` prefers. cuBLASLt's
// demands on a bias would be those of every call, so that a problem with one is not left to it.
std::optional<Decision> Dispatcher::decide_reading_c(const Request& request,
                                                     const Decision& usual) const {
  const bool has_kernel =
      !usual.choices.empty() && usual.choices.front().route == Choice::Route::kernel;
  if (!has_kernel || request.device_scalars) return std::nullopt;
  Request reading = request;
  reading.reads_c = true;
  Decision decision = decide(reading);
  const Choice& first = decision.choices.front();
  const bool is_other = first.route == Choice::Route::kernel
                            ? first.spec.traits.fetches_c
                            : request.problem.epilogue.bias == kNoBias;
  if (!is_other) return std::nullopt;
  return decision;
}

Outcome<Dispatcher::WinnerPlan> Dispatcher::prepare_winner(const Request& request) {
  auto found = winners(snapshot_, request, target_);
  if (!found && request.program_workspace_bytes) {
    auto level = level_kernels(snapshot_, request, target_);
    if (level && vendor_.chooses_by_workspace(request.problem, *request.program_workspace_bytes))
      found = *std::move(level);
  }
  if (!found) return tl::unexpected(found.error());
  Failure why;
  for (Winner& winner : *found) {
    Decision decision;
    decision.choices.push_back(std::move(winner.choice));
    auto plan = planner_.make(request, std::move(decision));
    if (plan && !(*plan)->is_vendor_default())
      return WinnerPlan{*std::move(plan), winner.own_us, winner.vendor_us};
    why = plan ? Failure{GEMMTUNE_STATUS_NO_KERNEL,
                         "this cuBLASLt does not have its fastest algorithm, or names it first"}
               : plan.error();
    if (why.status != GEMMTUNE_STATUS_NO_KERNEL) break;
  }
  return tl::unexpected(std::move(why));
}

// prepare() on a thread of its own, whose exceptions nobody would catch.
Outcome<void> Dispatcher::prepare_alone(const Request& request) {
  try {
    auto prepared = prepare(request);
    if (!prepared) return tl::unexpected(std::move(prepared.error()));
    // Another thread may have been faster, and its plan is kept.
    if (prepared->plan != prepared->own.get()) return {};
    return fail(GEMMTUNE_STATUS_OUT_OF_MEMORY,
                "the handle keeps " + std::to_string(PlanTable::kMaxOthers) +
                    " problems that were not tuned, and no more: make another handle for others");
  } catch (const std::bad_alloc&) {
    return fail(GEMMTUNE_STATUS_OUT_OF_MEMORY, "no host memory");  // short enough to take none
  } catch (const std::exception& error) {
    return fail(GEMMTUNE_STATUS_INTERNAL, error.what());
  }
}

std::vector<Outcome<void>> Dispatcher::prepare_all(std::span<const Request> requests) {
  std::vector<Outcome<void>> results(requests.size());
  for_each_index(requests.size(), threads_,
                 [&](size_t i) { results[i] = prepare_alone(requests[i]); });
  return results;
}

Outcome<void> Dispatcher::check_not_capturing(CUstream stream) const {
  auto scope = enter(*context_);
  if (!scope) return tl::unexpected(scope.error());
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = context_->api().stream_is_capturing(stream, &status);
  // The legacy default stream may not even be asked while another one is captured.
  if (code == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE) return {};
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    return fail(context_->driver().error(code, "asking for the state of the stream"));
  return fail(GEMMTUNE_STATUS_NOT_PREPARED,
              "the stream is being captured, and this problem was neither prewarmed nor run "
              "before; call gemmtune_prewarm with it first");
}

Outcome<void> Dispatcher::run(const Plan& plan, const Operands& operands, size_t workspace_bytes,
                              CUstream stream) const {
  const auto invalid = [](std::string text) {
    return fail(GEMMTUNE_STATUS_INVALID_ARGUMENT, std::move(text));
  };
  if (operands.a == nullptr || operands.b == nullptr || operands.c == nullptr)
    return invalid("A, B or C is a null pointer");
  if (operands.alpha == nullptr || operands.beta == nullptr)
    return invalid("alpha or beta is a null pointer");
  if ((address_bits(operands) & (plan.align_bytes() - 1)) != 0) {
    return invalid("A, B or C is not aligned to the " + std::to_string(plan.align_bytes()) +
                   " bytes that gemmtune_problem.align_bytes promises");
  }
  if (plan.has_whole_scalars() && (!is_whole(*operands.alpha) || !is_whole(*operands.beta)))
    return invalid("alpha and beta of an I8 product have to be whole numbers of at most 2^24");
  if (plan.has_bias() || operands.bias != nullptr) {
    if (const char* text = problem_of_bias(plan, operands.bias)) return invalid(text);
  }
  if (plan.has_scales() || operands.scale_a != nullptr || operands.scale_b != nullptr) {
    if (const char* text = problem_of_scales(plan, operands)) return invalid(text);
  }
  if (plan.workspace_bytes() > 0) {
    if (workspace_bytes < static_cast<size_t>(plan.workspace_bytes()) ||
        operands.workspace == nullptr) {
      return fail(GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL,
                  "the workspace has " +
                      std::to_string(operands.workspace == nullptr ? 0 : workspace_bytes) +
                      " bytes, this problem needs " + std::to_string(plan.workspace_bytes()));
    }
    if ((reinterpret_cast<uintptr_t>(operands.workspace) & (kWorkspaceAlignment - 1)) != 0)
      return invalid("the workspace is not aligned to 256 bytes");
  }
  auto scope = enter(*context_);
  if (!scope) return tl::unexpected(scope.error());
  const auto done = plan.enqueue(operands, stream);
  if (done) return {};
  auto failed = fail(done.error());
  failed.value().c_changed = done.error().c_changed;
  return failed;
}

}  // namespace gemmtune::dispatch
