// The C interface: checks what comes in, calls the Dispatcher, and turns every failure into a
// status and a message. Nothing is thrown across it.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/dispatcher.h"
#include "dispatch/explain.h"
#include "dispatch/failure.h"
#include "dispatch/request.h"
#include "dispatch/thread_cache.h"
#include "gemmtune/gemmtune.h"
#include "vendor/cublaslt.h"

struct gemmtune_handle_struct {
  std::unique_ptr<gemmtune::dispatch::Dispatcher> dispatcher;
};

namespace gemmtune::dispatch {
namespace {

static_assert(GEMMTUNE_VERSION == GEMMTUNE_PROJECT_VERSION, "gemmtune.h and CMakeLists.txt differ");

constexpr uint32_t kKnownFlags = GEMMTUNE_NO_COMPILE | GEMMTUNE_NO_VENDOR | GEMMTUNE_DETERMINISTIC;

// The last failures of a thread, of as many handles as one is likely to use in turns.
class LastFailures {
 public:
  // Serial 0 stands for no handle.
  void put(uint64_t serial, std::string message) {
    Entry* entry = find(serial);
    if (entry == nullptr) entry = &entries_[next_++ % kEntries];
    *entry = {serial, std::move(message)};
  }

  const char* get(uint64_t serial) {
    const Entry* entry = find(serial);
    return entry == nullptr ? "" : entry->message.c_str();
  }

 private:
  static constexpr size_t kEntries = 8;
  struct Entry {
    uint64_t serial = UINT64_MAX;
    std::string message;
  };

  Entry* find(uint64_t serial) {
    for (Entry& entry : entries_) {
      if (entry.serial == serial) return &entry;
    }
    return nullptr;
  }

  std::array<Entry, kEntries> entries_;
  size_t next_ = 0;
};

thread_local LastFailures last_failures;
thread_local ThreadCache thread_cache;

uint64_t serial_of(gemmtune_handle handle) {
  return handle == nullptr ? 0 : handle->dispatcher->serial();
}

// Runs `body`, which returns an Outcome<void>, and keeps the message of its failure.
template <class Body>
gemmtune_status guarded(gemmtune_handle handle, Body body) noexcept {
  const auto failed = [&](gemmtune_status status, const char* message) {
    try {
      last_failures.put(serial_of(handle), message);
    } catch (...) {  // no memory for the message: the status must do
    }
    return status;
  };
  try {
    const Outcome<void> done = body();
    if (done) return GEMMTUNE_STATUS_SUCCESS;
    return failed(done.error().status, done.error().message.c_str());
  } catch (const std::bad_alloc&) {
    return failed(GEMMTUNE_STATUS_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return failed(GEMMTUNE_STATUS_INTERNAL, error.what());
  } catch (...) {
    return failed(GEMMTUNE_STATUS_INTERNAL, "an unknown exception");
  }
}

tl::unexpected<Failure> invalid(std::string text) {
  return fail(GEMMTUNE_STATUS_INVALID_ARGUMENT, std::move(text));
}

// What take_struct() knows of a structure of the C interface.
template <class T>
struct StructForm {
  const char* name;
  const char* init;     // the macro that a caller begins with
  T initial;            // what that gives
  size_t fewest_bytes;  // up to the last field that has no default
};
constexpr StructForm<gemmtune_problem> kProblemForm = {"gemmtune_problem", "GEMMTUNE_PROBLEM_INIT",
                                                       GEMMTUNE_PROBLEM_INIT,
                                                       offsetof(gemmtune_problem, lda)};
constexpr StructForm<gemmtune_options> kOptionsForm = {"gemmtune_options", "GEMMTUNE_OPTIONS_INIT",
                                                       GEMMTUNE_OPTIONS_INIT,
                                                       offsetof(gemmtune_options, cache_dir)};
constexpr StructForm<gemmtune_operands> kOperandsForm = {
    "gemmtune_operands", "GEMMTUNE_OPERANDS_INIT", GEMMTUNE_OPERANDS_INIT,
    offsetof(gemmtune_operands, bias)};

// A structure of the caller's, whose header may be older or newer than this library. Fields that an
// older one lacks have their defaults. Newer ones must be zero: this library does not know what
// they ask for.
template <class T>
Outcome<T> take_struct(const T* from, const StructForm<T>& form) {
  const std::string name = form.name;
  if (from == nullptr) return invalid(name + " is a null pointer");
  const size_t bytes = from->struct_bytes;
  // Fields of 8 bytes begin at multiples of 8: none is cut.
  if (bytes < form.fewest_bytes || (bytes < sizeof(T) && bytes % alignof(T) != 0)) {
    return invalid(name + ".struct_bytes is " + std::to_string(bytes) + ", sizeof(" + name +
                   ") is needed; begin with " + form.init);
  }
  const auto* const raw = reinterpret_cast<const unsigned char*>(from);
  const size_t known = std::min(bytes, sizeof(T));
  const bool newer = std::any_of(raw + known, raw + bytes, [](unsigned char b) { return b; });
  if (newer) return invalid(name + " uses fields of a newer libgemmtune than the one loaded");
  T copy = form.initial;
  std::memcpy(&copy, from, known);
  copy.struct_bytes = sizeof(T);
  return copy;
}

Outcome<Request> take_request(const gemmtune_problem* problem) {
  auto copy = take_struct(problem, kProblemForm);
  if (!copy) return tl::unexpected(copy.error());
  return parse_request(*copy);
}

// Whether the problem goes by the addresses of each call.
bool goes_by_addresses(const gemmtune_problem& problem) {
  return problem.struct_bytes < offsetof(gemmtune_problem, reserved) ||
         problem.align_bytes == GEMMTUNE_ALIGN_OF_POINTERS;
}

std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

Outcome<DispatcherOptions> convert(const gemmtune_options& from) {
  DispatcherOptions options;
  options.database = text_or(from.database, "");
  options.pack = text_or(from.pack, "");
  if (options.database.empty() == options.pack.empty())
    return invalid("gemmtune_options: exactly one of database and pack names a file");
  if ((from.flags & ~kKnownFlags) != 0 || from.reserved != 0)
    return invalid("gemmtune_options: unknown flags, or reserved is not 0");
  if (from.max_workspace_bytes < 0 || from.threads < 0)
    return invalid("gemmtune_options: max_workspace_bytes or threads is negative");
  options.cache_dir = text_or(from.cache_dir, "");
  options.driver_library = text_or(from.driver_library, gpu::DriverOptions{}.library.c_str());
  if ((from.flags & GEMMTUNE_NO_COMPILE) == 0) {
    jit::NvrtcLocations locations;
    locations.library = text_or(from.nvrtc_library, "");
    options.nvrtc_candidates = jit::nvrtc_candidates(locations);
  }
  if ((from.flags & GEMMTUNE_NO_VENDOR) == 0) {
    options.cublaslt_names = from.cublaslt_library == nullptr
                                 ? vendor::CublasLtLibrary::default_names()
                                 : std::vector<std::string>{from.cublaslt_library};
  }
  options.device = from.device;
  options.threads = from.threads;
  options.deterministic = (from.flags & GEMMTUNE_DETERMINISTIC) != 0;
  options.max_workspace_bytes = from.max_workspace_bytes;
  return options;
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
  if (request->operands_swapped) std::swap(operands.a, operands.b);
  return dispatcher.run(*prepared->plan, operands, workspace_bytes, stream);
}

// A problem that states its alignment, or addresses that are multiples of what it is taken for.
Outcome<void> run_as_stated(Dispatcher& dispatcher, const gemmtune_problem* problem,
                            Operands operands, size_t workspace_bytes, CUstream stream) {
  const bool is_ours = problem->struct_bytes == sizeof(gemmtune_problem);
  const auto* const hit = is_ours ? thread_cache.find(dispatcher.serial(), *problem) : nullptr;
  if (hit != nullptr && !is_for_other_bias(*hit->plan, operands.bias)) {
    if (hit->operands_swapped) std::swap(operands.a, operands.b);
    return dispatcher.run(*hit->plan, operands, workspace_bytes, stream);
  }
  const auto ready = find_or_prepare(dispatcher, problem, stream);
  if (!ready) return tl::unexpected(ready.error());
  if (is_for_other_bias(*ready->prepared.plan, operands.bias))
    return run_with_any_bias(dispatcher, problem, operands, workspace_bytes, stream);
  if (ready->operands_swapped) std::swap(operands.a, operands.b);
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
  return problem.struct_bytes > kFirstProblemBytes && problem.bias != GEMMTUNE_BIAS_NONE;
}

// A problem of the first header as this one has it.
gemmtune_problem current_form(const gemmtune_problem& first) {
  gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
  std::memcpy(&problem, &first, kFirstProblemBytes);
  problem.struct_bytes = sizeof(problem);
  return problem;
}

Outcome<void> run(Dispatcher& dispatcher, const gemmtune_problem* problem, const Operands& operands,
                  size_t workspace_bytes, CUstream stream) {
  if (problem == nullptr) return invalid("gemmtune_problem is a null pointer");
  if (problem->struct_bytes == kFirstProblemBytes) {
    const gemmtune_problem current = current_form(*problem);
    return run(dispatcher, &current, operands, workspace_bytes, stream);
  }
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

Outcome<void> run(Dispatcher& dispatcher, const gemmtune_problem* problem,
                  const gemmtune_operands* operands, CUstream stream) {
  const bool is_ours = operands != nullptr && operands->struct_bytes == sizeof(gemmtune_operands);
  if (!is_ours) {
    const auto copy = take_struct(operands, kOperandsForm);
    if (!copy) return tl::unexpected(copy.error());
    return run(dispatcher, problem, &*copy, stream);
  }
  const gemmtune_operands& o = *operands;
  if (o.reserved != 0) return invalid("gemmtune_operands.reserved is not 0");
  return run(dispatcher, problem, {o.a, o.b, o.c, o.alpha, o.beta, o.workspace, o.bias},
             o.workspace_bytes, stream);
}

Outcome<void> prewarm(Dispatcher& dispatcher, const gemmtune_problem* problems, size_t count,
                      gemmtune_status* each) {
  if (count == 0) return {};
  if (problems == nullptr) return invalid("problems is a null pointer");
  const size_t stride = problems->struct_bytes;
  Outcome<void> first;
  const auto set = [&](size_t i, const Outcome<void>& done) {
    if (each != nullptr) each[i] = done ? GEMMTUNE_STATUS_SUCCESS : done.error().status;
    if (first && !done) first = tl::unexpected(done.error());
  };
  std::vector<Request> requests;
  std::vector<size_t> indices;  // of the requests, in `problems`
  std::vector<Outcome<void>> results(count);
  for (size_t i = 0; i < count; ++i) {
    const auto* const at = reinterpret_cast<const gemmtune_problem*>(
        reinterpret_cast<const char*>(problems) + i * stride);
    auto request = at->struct_bytes == stride
                       ? take_request(at)
                       : Outcome<Request>(invalid("the problems differ in struct_bytes"));
    if (request) {
      requests.push_back(*request);
      indices.push_back(i);
    } else {
      results[i] = tl::unexpected(std::move(request.error()));
    }
  }
  std::vector<Outcome<void>> prepared = dispatcher.prepare_all(requests);
  for (size_t r = 0; r < prepared.size(); ++r) results[indices[r]] = std::move(prepared[r]);
  for (size_t i = 0; i < count; ++i) set(i, results[i]);
  return first;
}

Outcome<std::string> explain(const Dispatcher& dispatcher, const gemmtune_problem* problem,
                             int32_t format) {
  if (format != GEMMTUNE_TEXT && format != GEMMTUNE_JSON)
    return invalid("format is neither GEMMTUNE_TEXT nor GEMMTUNE_JSON");
  const auto request = take_request(problem);
  if (!request) return tl::unexpected(request.error());
  Explanation explanation;
  explanation.problem = request->problem;
  const Plan* const plan = dispatcher.find(*request);
  explanation.prepared = plan != nullptr;
  if (plan != nullptr) {
    explanation.decision = plan->decision();
    explanation.chosen = plan->chosen_index();
    explanation.workspace_bytes = plan->workspace_bytes();
  } else {
    explanation.decision = dispatcher.decide(*request);
  }
  return format == GEMMTUNE_TEXT ? to_text(explanation) : to_json(explanation);
}

void copy_out(const std::string& text, char* buffer, size_t capacity, size_t* needed) {
  if (needed != nullptr) *needed = text.size() + 1;
  if (buffer == nullptr || capacity == 0) return;
  const size_t kept = std::min(text.size(), capacity - 1);
  std::memcpy(buffer, text.data(), kept);
  buffer[kept] = '\0';
}

tl::unexpected<Failure> no_handle() {
  return invalid("the handle is null");
}

}  // namespace
}  // namespace gemmtune::dispatch

using namespace gemmtune::dispatch;  // NOLINT(google-build-using-namespace)

uint32_t gemmtune_version() {
  return GEMMTUNE_VERSION;
}

uint32_t gemmtune_abi_version() {
  return GEMMTUNE_ABI_VERSION;
}

const char* gemmtune_status_string(gemmtune_status status) {
  switch (status) {
    case GEMMTUNE_STATUS_SUCCESS:
      return "success";
    case GEMMTUNE_STATUS_INVALID_ARGUMENT:
      return "invalid argument";
    case GEMMTUNE_STATUS_ABI_MISMATCH:
      return "compiled for another ABI version";
    case GEMMTUNE_STATUS_NO_DEVICE:
      return "no usable GPU";
    case GEMMTUNE_STATUS_DATABASE:
      return "unusable database or pack";
    case GEMMTUNE_STATUS_NO_KERNEL:
      return "nothing computes this problem here";
    case GEMMTUNE_STATUS_NOT_PREPARED:
      return "not prepared before the capture";
    case GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL:
      return "workspace too small";
    case GEMMTUNE_STATUS_CUDA:
      return "CUDA error";
    case GEMMTUNE_STATUS_OUT_OF_MEMORY:
      return "out of memory";
    case GEMMTUNE_STATUS_INTERNAL:
      return "internal error";
    case GEMMTUNE_STATUS_FORCE_INT32:
      break;
  }
  return "unknown status";
}

const char* gemmtune_last_error(gemmtune_handle handle) {
  return last_failures.get(serial_of(handle));
}

gemmtune_status gemmtune_create(gemmtune_handle* handle, const gemmtune_options* options) {
  if (handle != nullptr) *handle = nullptr;
  return guarded(nullptr, [&]() -> Outcome<void> {
    if (handle == nullptr) return invalid("the place for the handle is a null pointer");
    if (options != nullptr && options->struct_bytes >= 2 * sizeof(uint32_t) &&
        options->abi_version != GEMMTUNE_ABI_VERSION) {
      return fail(GEMMTUNE_STATUS_ABI_MISMATCH,
                  "the program was compiled for ABI version " +
                      std::to_string(options->abi_version) + " of libgemmtune, this is version " +
                      std::to_string(GEMMTUNE_ABI_VERSION) + "; compile it again");
    }
    const auto copy = take_struct(options, kOptionsForm);
    if (!copy) return tl::unexpected(copy.error());
    const auto converted = convert(*copy);
    if (!converted) return tl::unexpected(converted.error());
    auto dispatcher = Dispatcher::create(*converted);
    if (!dispatcher) return tl::unexpected(dispatcher.error());
    *handle = new gemmtune_handle_struct{*std::move(dispatcher)};
    return {};
  });
}

void gemmtune_destroy(gemmtune_handle handle) {
  delete handle;
}

gemmtune_status gemmtune_prewarm(gemmtune_handle handle, const gemmtune_problem* problems,
                                 size_t count, gemmtune_status* each) {
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    return prewarm(*handle->dispatcher, problems, count, each);
  });
}

gemmtune_status gemmtune_workspace_bytes(gemmtune_handle handle, const gemmtune_problem* problem,
                                         size_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    if (bytes == nullptr) return invalid("the place for the size is a null pointer");
    const auto request = take_request(problem);
    if (!request) return tl::unexpected(request.error());
    const auto prepared = handle->dispatcher->prepare(*request);
    if (!prepared) return tl::unexpected(prepared.error());
    *bytes = static_cast<size_t>(prepared->plan->workspace_bytes());
    return {};
  });
}

gemmtune_status gemmtune_gemm(gemmtune_handle handle, const gemmtune_problem* problem,
                              const float* alpha, const void* a, const void* b, const float* beta,
                              void* c, void* workspace, size_t workspace_bytes,
                              gemmtune_stream stream) {
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    return run(*handle->dispatcher, problem, {a, b, c, alpha, beta, workspace, nullptr},
               workspace_bytes, stream);
  });
}

gemmtune_status gemmtune_run(gemmtune_handle handle, const gemmtune_problem* problem,
                             const gemmtune_operands* operands, gemmtune_stream stream) {
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    return run(*handle->dispatcher, problem, operands, stream);
  });
}

gemmtune_status gemmtune_explain(gemmtune_handle handle, const gemmtune_problem* problem,
                                 int32_t format, char* buffer, size_t capacity, size_t* needed) {
  copy_out("", buffer, capacity, needed);
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    const auto text = explain(*handle->dispatcher, problem, format);
    if (!text) return tl::unexpected(text.error());
    copy_out(*text, buffer, capacity, needed);
    return {};
  });
}
