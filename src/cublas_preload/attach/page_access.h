#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gemmtune::cublas_preload {

// Makes pages writable that hold what is to be patched, and gives them the access back that they
// had. Not thread-safe.
class PageAccess {
 public:
  // Reads what access the pages of this process have now.
  PageAccess();
  ~PageAccess() { restore(); }
  PageAccess(const PageAccess&) = delete;
  PageAccess& operator=(const PageAccess&) = delete;

  // Makes the page of `place` writable if it is not. False with errno set if the system refuses.
  bool make_writable(const void* place);

  // Takes back what make_writable() has done.
  void restore();

 private:
  struct Region {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    int access = 0;  // PROT_...
  };
  struct Page {
    void* begin = nullptr;
    int access = 0;
  };

  std::vector<Region> regions_;
  std::vector<Page> changed_;
  uintptr_t page_bytes_;
};

}  // namespace gemmtune::cublas_preload
