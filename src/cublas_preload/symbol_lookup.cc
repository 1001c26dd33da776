// Programs that open cuBLAS while they run and look its functions up by their names, as JAX does:
// where this library is preloaded, they find its own dlsym first. For the functions that this
// library stands in front of they get ours, and the ones that they would have got are remembered,
// to hand calls on to. All else is the loader's. What is remembered of a library ends when it is
// closed, so they find our dlclose, too.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

#include "cublas_preload/attach/called_functions.h"
#include "cublas_preload/attach/loaded_objects.h"
#include "cublas_preload/attach/own_functions.h"
#include "cublas_preload/log.h"
#include "cublas_preload/real_dlsym.h"
#include "cublas_preload/real_functions.h"
#include "cublas_preload/recorder.h"

namespace gemmtune::cublas_preload {
namespace {

// The function of ours for a name; null for a name that is not taken. Never destroyed.
const Hook* own_function(std::string_view name) {
  static const auto* const all = new std::vector<Hook>(own_functions());
  const auto found = std::find_if(all->begin(), all->end(),
                                  [name](const Hook& hook) { return name == hook.name; });
  return found == all->end() ? nullptr : &*found;
}

// This library, and cuBLAS, whose own calls are not the program's.
bool is_behind(const link_map* object) {
  return object != nullptr && (object == object_at(reinterpret_cast<const void*>(&own_function)) ||
                               is_cublas(object->l_name));
}

// What a program that looks for a function of cuBLAS gets. One object's calls are handed on to one
// function: what it finds by the same name elsewhere (another version of cuBLAS) stays as it is.
__attribute__((noinline)) void* found_by(const void* caller, void* library, const char* name) {
  void* const function = real_dlsym()(library, name);
  const Hook* const own = own_function(name);
  if (function == nullptr || own == nullptr || function == own->function) return function;
  const link_map* const object = object_at(caller);
  if (is_behind(object)) return function;
  CalledFunctions& called = CalledFunctions::of_process();
  return called.remember_first(object == nullptr ? 0 : object->l_addr, own->name, function)
             ? own->function
             : function;
}

// What is known of libraries that are not loaded any more is forgotten.
void forget_unloaded() {
  static std::atomic<uint64_t> known = 0;
  const uint64_t unloaded = unloaded_objects();
  if (known.exchange(unloaded) == unloaded) return;
  const LoadedAddresses loaded;
  CalledFunctions::of_process().forget_all_but(loaded);
  RealFunction::forget_callers();
  if (Recorder* const recorder = Recorder::current(); recorder != nullptr)
    recorder->forget_all_but(loaded);
}

}  // namespace
}  // namespace gemmtune::cublas_preload

// The loader's dlsym looks for RTLD_NEXT behind the library that its return address lies in, which
// has to stay the caller's: so it is jumped to, whatever the rest is compiled with.
#ifdef __clang__
#define GEMMTUNE_JUMPS
#define GEMMTUNE_JUMP_TO [[clang::musttail]] return
#else
#define GEMMTUNE_JUMPS __attribute__((optimize("O2")))
#define GEMMTUNE_JUMP_TO return
#endif

// Under a name of its own to the compiler: a function that is declared not to throw, as dlsym is,
// is not left by a jump by every compiler.
extern "C" void* gemmtune_dlsym(void* library, const char* name) __asm__("dlsym");

extern "C" __attribute__((visibility("default"))) GEMMTUNE_JUMPS void* gemmtune_dlsym(
    void* library, const char* name) {
  using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
  if (library == RTLD_NEXT || library == RTLD_DEFAULT || std::strncmp(name, "cublas", 6) != 0)
    GEMMTUNE_JUMP_TO real_dlsym()(library, name);
  return found_by(__builtin_return_address(0), library, name);
}

extern "C" int gemmtune_dlclose(void* library) __asm__("dlclose");

extern "C" __attribute__((visibility("default"))) int gemmtune_dlclose(void* library) {
  using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
  const int code = real_dlclose()(library);
  try {
    forget_unloaded();
  } catch (const std::exception& error) {
    log_once("%s", error.what());
  }
  return code;
}
