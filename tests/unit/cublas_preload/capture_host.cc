// A program without cuBLAS that loads libraries which have one, where nobody else looks for
// functions: as Python loads extensions. A library that cannot multiply is a cuBLAS, whose function
// is looked up by its name: as JAX does. Writes how many calls each library's cuBLAS has had to
// stderr. With --reload each is closed and loaded once more, when something else lies where its
// cuBLAS was.
//   capture_host [--reload] LIBRARY...
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

void* load_and_multiply(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(99);
  }
  auto* const own = look_up<int()>(library, "multiply");
  std::fprintf(stderr, "%d\n", own != nullptr ? own() : multiply(library));
  return library;
}

struct Place {
  uintptr_t begin = 0;
  size_t bytes = 0;
};

// Where the loaded cuBLAS is; nothing where none is.
Place place_of_cublas() {
  Place place;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        if (std::strstr(info->dlpi_name, "libcublas.so") == nullptr) return 0;
        Place& found = *static_cast<Place*>(data);
        found.begin = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type == PT_LOAD)
            found.bytes = std::max<size_t>(found.bytes, header.p_vaddr + header.p_memsz);
        }
        return 1;
      },
      &place);
  return place;
}

void close_and_take_place(void* library) {
  const Place place = place_of_cublas();
  dlclose(library);
  if (place_of_cublas().begin != 0) std::fprintf(stderr, "cuBLAS stays\n");
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const taken = mmap(reinterpret_cast<void*>(place.begin), place.bytes, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (taken == MAP_FAILED) std::fprintf(stderr, "its place is not free\n");
}

}  // namespace

int main(int argc, char** argv) {
  const bool reload = argc > 1 && std::strcmp(argv[1], "--reload") == 0;
  for (int i = reload ? 2 : 1; i < argc; ++i) {
    void* const library = load_and_multiply(argv[i]);
    if (!reload) continue;
    close_and_take_place(library);
    load_and_multiply(argv[i]);
  }
  return 0;
}
