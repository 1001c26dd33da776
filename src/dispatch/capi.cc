// The C interface: checks what comes in, calls the Dispatcher, and turns every failure into a
// status and a message. Nothing is thrown across it.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/c_structs.h"
#include "dispatch/dispatcher.h"
#include "dispatch/explain.h"
#include "dispatch/failure.h"
#include "dispatch/product_call.h"
#include "dispatch/request.h"
#include "gemmtune/gemmtune.h"
#include "vendor/cublaslt.h"

struct gemmtune_handle_struct {
  std::unique_ptr<gemmtune::dispatch::Dispatcher> dispatcher;
};

namespace gemmtune::dispatch {
namespace {

static_assert(GEMMTUNE_VERSION == GEMMTUNE_PROJECT_VERSION, "gemmtune.h and CMakeLists.txt differ");

constexpr uint32_t kKnownFlags = GEMMTUNE_NO_COMPILE | GEMMTUNE_NO_VENDOR | GEMMTUNE_DETERMINISTIC;

// A thread may still call when what belongs to it has gone, from what ends after that.
thread_local bool failures_gone = false;

// The last failures of a thread, of as many handles as one is likely to use in turns.
class LastFailures {
 public:
  LastFailures() = default;
  ~LastFailures() { failures_gone = true; }
  LastFailures(const LastFailures&) = delete;
  LastFailures& operator=(const LastFailures&) = delete;

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

uint64_t serial_of(gemmtune_handle handle) {
  return handle == nullptr ? 0 : handle->dispatcher->serial();
}

// Runs `body`, which returns an Outcome<void>, and keeps the message of its failure.
template <class Body>
gemmtune_status guarded(gemmtune_handle handle, Body body) noexcept {
  const auto failed = [&](gemmtune_status status, const char* message) {
    if (failures_gone) return status;
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
  return failures_gone ? "" : last_failures.get(serial_of(handle));
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

gemmtune_status gemmtune_tuned_problems(gemmtune_handle handle, size_t* count) {
  if (count != nullptr) *count = 0;
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    if (count == nullptr) return invalid("the place for the number is a null pointer");
    *count = handle->dispatcher->tuned_problems();
    return {};
  });
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
                              const void* alpha, const void* a, const void* b, const void* beta,
                              void* c, void* workspace, size_t workspace_bytes,
                              gemmtune_stream stream) {
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    return run_product(*handle->dispatcher, problem,
                       {a, b, c, static_cast<const float*>(alpha), static_cast<const float*>(beta),
                        workspace, nullptr},
                       workspace_bytes, stream);
  });
}

gemmtune_status gemmtune_run(gemmtune_handle handle, const gemmtune_problem* problem,
                             const gemmtune_operands* operands, gemmtune_stream stream) {
  return guarded(handle, [&]() -> Outcome<void> {
    if (handle == nullptr) return no_handle();
    return run_product(*handle->dispatcher, problem, operands, stream);
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
