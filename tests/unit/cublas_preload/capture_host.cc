// A program without cuBLAS that loads libraries which have one, where nobody else looks for
// functions: as Python loads extensions. A library that cannot multiply is a cuBLAS, whose function
// is looked up by its name: as JAX does. Writes how many calls each library's cuBLAS has had to
// stderr.
//   capture_host LIBRARY...
#include <dlfcn.h>

#include <cstdio>

#include "cublas_preload/entries.h"
#include "fake_calls.h"

namespace {

template <class Function>
Function* look_up(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

int multiply(void* cublas) {
  using gemmtune::vendor::lt::Transpose;
  const float one = 1;
  const float zero = 0;
  look_up<decltype(gemmtune::cublas_preload::cublasSgemm_v2)>(cublas, "cublasSgemm_v2")(
      nullptr, Transpose::no, Transpose::no, 77, 8, 8, &one, nullptr, 77, nullptr, 8, &zero,
      nullptr, 77);
  return static_cast<int>(
      look_up<decltype(gemmtune_fake_cublas)>(cublas, "gemmtune_fake_cublas")()->products);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* const library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 99;
    }
    auto* const own = look_up<int()>(library, "multiply");
    std::fprintf(stderr, "%d\n", own != nullptr ? own() : multiply(library));
  }
  return 0;
}
