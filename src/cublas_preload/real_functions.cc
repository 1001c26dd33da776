#include "cublas_preload/real_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <mutex>

#include "cublas_preload/attach/called_functions.h"
#include "cublas_preload/attach/loaded_objects.h"
#include "cublas_preload/log.h"
#include "cublas_preload/real_dlsym.h"

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

// The function that a loaded library, or what it needs, has. Null stands for the program.
void* look_up_in(const char* library, const char* name) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const function = unless_ours(real_dlsym()(handle, name));
  real_dlclose()(handle);  // it stays as long as whoever loaded it wants
  return function;
}

void* look_up_in_cublas(const char* name) {
  for (const char* library : kSonames) {
    if (void* const function = look_up_in(library, name); function != nullptr) return function;
  }
  return nullptr;
}

void* look_up_in_caller(const char* name, const link_map& caller) {
  const CalledFunctions& called = CalledFunctions::of_process();
  if (void* const function = called.find(caller.l_addr, name); function != nullptr) return function;
  // The program itself sees us first.
  return *caller.l_name == '\0' ? nullptr : look_up_in(caller.l_name, name);
}

bool is_in_cublas(void* caller) {
  const link_map* const object = object_at(caller);
  return object != nullptr && is_cublas(object->l_name);
}

// Of those who keep what was looked up, and who begin another round.
std::mutex& keeping() {
  static constinit std::mutex mutex;
  return mutex;
}

size_t home_of(void* caller, size_t size) {
  return (reinterpret_cast<uintptr_t>(caller) * uint64_t{0x9E3779B97F4A7C15} >> 32) % size;
}

}  // namespace

constinit std::atomic<uint32_t> RealFunction::current_round = 1;

void* look_up(const char* name, void* caller) {
  const link_map* const object = object_at(caller);
  void* function = object == nullptr ? nullptr : look_up_in_caller(name, *object);
  if (function == nullptr) function = CalledFunctions::of_process().find(name);
  if (function == nullptr) function = unless_ours(real_dlsym()(RTLD_NEXT, name));
  return function != nullptr ? function : look_up_in_cublas(name);
}

void* look_up_for(const char* library, const char* name) {
  void* const function = look_up_in(*library == '\0' ? nullptr : library, name);
  return function != nullptr ? function : look_up_in_cublas(name);
}

void* look_up_beside(const void* function, const char* name) {
  const link_map* const object = object_at(function);
  return object == nullptr ? nullptr
                           : look_up_in(*object->l_name == '\0' ? nullptr : object->l_name, name);
}

void RealFunction::forget_callers() {
  const std::lock_guard lock(keeping());
  current_round.fetch_add(1, std::memory_order_acq_rel);
}

// Unless it was looked up in an earlier round: then the library may have gone.
void RealFunction::keep(const Found& found, uint32_t round, Known& known) {
  const std::lock_guard lock(keeping());
  if (current_round.load(std::memory_order_relaxed) != round) return;
  known.function.store(found.function, std::memory_order_relaxed);
  known.of_cublas.store(found.for_cublas, std::memory_order_relaxed);
  known.round.store(round, std::memory_order_release);
}

// Where `caller` is, or can be, kept; null where others have all places.
RealFunction::Known* RealFunction::place_of(void* caller) {
  const auto is_of_caller = [caller](Known& known) {
    void* holder = known.caller.load(std::memory_order_acquire);
    if (holder == nullptr &&
        known.caller.compare_exchange_strong(holder, caller, std::memory_order_acq_rel))
      return true;
    return holder == caller;
  };
  for (Known& known : first_) {
    if (is_of_caller(known)) return &known;
  }
  size_t i = home_of(caller, others_.size());
  for (size_t tried = 0; tried < others_.size(); ++tried, i = (i + 1) % others_.size()) {
    if (is_of_caller(others_[i])) return &others_[i];
  }
  return nullptr;
}

RealFunction::Found RealFunction::find_or_look_up(void* caller) {
  const uint32_t round = current_round.load(std::memory_order_acquire);
  Known* const known = place_of(caller);
  if (known != nullptr && known->round.load(std::memory_order_acquire) == round) return of(*known);
  const Found found = {look_up(name_, caller), is_in_cublas(caller)};
  if (found.function == nullptr) {
    log_once("there is no %s behind it: the call fails", name_);
  } else if (known != nullptr) {
    keep(found, round, *known);
  }
  return found;
}

}  // namespace gemmtune::cublas_preload
