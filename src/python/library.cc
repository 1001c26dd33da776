#include "python/library.h"

#include <vector>

namespace gemmtune::python {
namespace {

const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

// NOLINTBEGIN(performance-no-int-to-ptr): Python has addresses as numbers
template <class Pointer>
Pointer pointer(uintptr_t address) {
  return reinterpret_cast<Pointer>(address);
}
// NOLINTEND(performance-no-int-to-ptr)

}  // namespace

Library::Library(const LibraryOptions& options) {
  gemmtune_options wanted = GEMMTUNE_OPTIONS_INIT;
  wanted.database = or_null(options.database);
  wanted.pack = or_null(options.pack);
  wanted.cache_dir = or_null(options.cache_dir);
  wanted.nvrtc_library = or_null(options.nvrtc);
  wanted.driver_library = or_null(options.driver);
  wanted.cublaslt_library = or_null(options.cublaslt);
  wanted.device = options.device;
  wanted.flags = options.flags;
  wanted.max_workspace_bytes = options.max_workspace_bytes;
  gemmtune_handle handle = nullptr;
  check(gemmtune_create(&handle, &wanted));
  handle_.reset(handle);
}

void Library::check(gemmtune_status status) const {
  if (status == GEMMTUNE_STATUS_SUCCESS) return;
  const std::string message = gemmtune_last_error(handle_.get());
  throw LibraryError(message.empty() ? gemmtune_status_string(status) : message);
}

size_t Library::prepare(const gemmtune_problem& problem) {
  size_t bytes = 0;
  check(gemmtune_workspace_bytes(handle_.get(), &problem, &bytes));
  return bytes;
}

void Library::run(const gemmtune_problem& problem, const Operands& operands, float alpha,
                  float beta, uintptr_t stream) {
  gemmtune_operands all = GEMMTUNE_OPERANDS_INIT;
  all.alpha = &alpha;
  all.beta = &beta;
  all.a = pointer<const void*>(operands.a);
  all.b = pointer<const void*>(operands.b);
  all.c = pointer<void*>(operands.c);
  all.bias = pointer<const void*>(operands.bias);
  all.workspace = pointer<void*>(operands.workspace);
  all.workspace_bytes = operands.workspace_bytes;
  check(gemmtune_run(handle_.get(), &problem, &all, pointer<gemmtune_stream>(stream)));
}

std::string Library::explain(const gemmtune_problem& problem) {
  // The answer may be a longer one where another thread prepares the problem meanwhile.
  std::vector<char> text;
  size_t needed = 0;
  do {
    text.resize(needed);
    check(gemmtune_explain(handle_.get(), &problem, GEMMTUNE_JSON, text.data(), text.size(),
                           &needed));
  } while (needed > text.size());
  return text.data();
}

}  // namespace gemmtune::python
