#include "gpu/shared_library.h"

#include <dlfcn.h>

#include <string_view>

namespace gemmtune::gpu {
namespace {

// The loader's text, shortened in the usual case of a library that is not there.
std::string loader_reason(const std::string& name) {
  const char* text = dlerror();
  if (text == nullptr) return name + " cannot be opened";
  const std::string_view reason(text);
  const std::string missing = name + ": cannot open shared object file: No such file or directory";
  return reason == missing ? name + " not found" : std::string(reason);
}

}  // namespace

void SharedLibrary::Close::operator()(void* handle) const {
  dlclose(handle);
}

Expected<SharedLibrary> SharedLibrary::open(const std::string& name) {
  // RTLD_LOCAL: what a vendor library brings along must not resolve anyone else's symbols.
  // RTLD_NODELETE: these libraries keep threads and exit handlers that outlive the last handle.
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return make_error(ErrorKind::not_found, loader_reason(name));
  return SharedLibrary(handle, name);
}

Expected<SharedLibrary> SharedLibrary::open_first(std::span<const std::string> names) {
  std::string reasons;
  for (const std::string& name : names) {
    auto library = open(name);
    if (library) return library;
    if (!reasons.empty()) reasons += "; ";
    reasons += library.error().message;
  }
  return make_error(ErrorKind::not_found, reasons.empty() ? "no library was named" : reasons);
}

Expected<SharedLibrary> SharedLibrary::open_first_loaded(std::span<const std::string> names) {
  for (const std::string& name : names) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_NOLOAD);
    if (handle != nullptr) return SharedLibrary(handle, name);
  }
  return open_first(names);
}

void* SharedLibrary::symbol(const char* name) const {
  return dlsym(handle_.get(), name);
}

}  // namespace gemmtune::gpu
