// A program without cuBLAS that loads libraries which have one, where nobody else looks for
// functions: as Python loads extensions. Writes how many calls each library's cuBLAS has had to
// stderr.
//   capture_host LIBRARY...
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* const library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 99;
    }
    std::fprintf(stderr, "%d\n", reinterpret_cast<int (*)()>(dlsym(library, "multiply"))());
  }
  return 0;
}
