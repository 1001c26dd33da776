// A program without cuBLAS that loads a library which has it, where nobody else looks for
// functions: as Python loads extensions.   capture_host LIBRARY
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 99;
  }
  reinterpret_cast<void (*)()>(dlsym(library, "multiply"))();
  return 0;
}
