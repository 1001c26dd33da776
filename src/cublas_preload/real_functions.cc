#include "cublas_preload/real_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>

#include "cublas_preload/log.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr std::array<const char*, 6> kSonames = {"libcublas.so.13",   "libcublas.so.12",
                                                 "libcublas.so.11",   "libcublasLt.so.13",
                                                 "libcublasLt.so.12", "libcublasLt.so.11"};

// Where the library begins that an address lies in.
const void* library_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Null for a function of this library.
void* unless_ours(void* function) {
  if (function == nullptr) return nullptr;
  static const void* const ours = library_of(reinterpret_cast<const void*>(&look_up));
  return library_of(function) == ours ? nullptr : function;
}

// The function that a loaded library, or what it needs, has.
void* look_up_in(const char* library, const char* name) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const function = unless_ours(::dlsym(handle, name));
  ::dlclose(handle);  // it stays as long as whoever loaded it wants
  return function;
}

void* look_up_in_caller(const char* name, void* caller) {
  Dl_info info{};
  void* map = nullptr;
  if (::dladdr1(caller, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return nullptr;
  const char* const library = static_cast<link_map*>(map)->l_name;
  // The program itself sees us first.
  return *library == '\0' ? nullptr : look_up_in(library, name);
}

size_t home_of(void* caller, size_t size) {
  return (reinterpret_cast<uintptr_t>(caller) * uint64_t{0x9E3779B97F4A7C15} >> 32) % size;
}

}  // namespace

void* look_up(const char* name, void* caller) {
  if (void* const function = look_up_in_caller(name, caller); function != nullptr) return function;
  if (void* const function = unless_ours(::dlsym(RTLD_NEXT, name)); function != nullptr)
    return function;
  for (const char* library : kSonames) {
    if (void* const function = look_up_in(library, name); function != nullptr) return function;
  }
  return nullptr;
}

void* RealFunction::remember(Known& known, void* caller) {
  void* const function = look_up(name_, caller);
  if (function == nullptr) {
    log_once("there is no %s behind it: the call fails", name_);
  } else {
    known.function.store(function, std::memory_order_release);
  }
  return function;
}

void* RealFunction::find(void* caller) {
  size_t i = home_of(caller, known_.size());
  for (size_t tried = 0; tried < known_.size(); ++tried, i = (i + 1) % known_.size()) {
    Known& known = known_[i];
    void* holder = known.caller.load(std::memory_order_acquire);
    if (holder == nullptr &&
        known.caller.compare_exchange_strong(holder, caller, std::memory_order_acq_rel))
      holder = caller;
    if (holder != caller) continue;
    void* const function = known.function.load(std::memory_order_acquire);
    return function != nullptr ? function : remember(known, caller);
  }
  return look_up(name_, caller);
}

}  // namespace gemmtune::cublas_preload
