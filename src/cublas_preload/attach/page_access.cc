#include "cublas_preload/attach/page_access.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>

namespace gemmtune::cublas_preload {

PageAccess::PageAccess() : page_bytes_(static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE))) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/maps", "re"),
                                                             &std::fclose);
  if (file == nullptr) return;
  std::array<char, 1024> line{};
  bool at_start = true;  // of a line: a path may be longer than the buffer
  while (std::fgets(line.data(), static_cast<int>(line.size()), file.get()) != nullptr) {
    Region region;
    std::array<char, 5> letters{};
    if (at_start && std::sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR " %4s", &region.begin,
                                &region.end, letters.data()) == 3) {
      region.access = (letters[0] == 'r' ? PROT_READ : 0) | (letters[1] == 'w' ? PROT_WRITE : 0) |
                      (letters[2] == 'x' ? PROT_EXEC : 0);
      regions_.push_back(region);
    }
    at_start = std::find(line.begin(), line.end(), '\n') != line.end();
    line.fill('\0');
  }
}

bool PageAccess::make_writable(const void* place) {
  const auto address = reinterpret_cast<uintptr_t>(place);
  const auto region = std::find_if(regions_.begin(), regions_.end(), [&](const Region& candidate) {
    return address >= candidate.begin && address < candidate.end;
  });
  if (region == regions_.end()) {
    errno = regions_.empty() ? ENOENT : EFAULT;  // /proc, or the page
    return false;
  }
  if ((region->access & PROT_WRITE) != 0) return true;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const page = reinterpret_cast<void*>(address / page_bytes_ * page_bytes_);
  if (std::any_of(changed_.begin(), changed_.end(),
                  [&](const Page& known) { return known.begin == page; }))
    return true;
  if (::mprotect(page, page_bytes_, region->access | PROT_WRITE) != 0) return false;
  changed_.push_back({page, region->access});
  return true;
}

void PageAccess::restore() {
  for (const Page& page : changed_) ::mprotect(page.begin, page_bytes_, page.access);
  changed_.clear();
}

}  // namespace gemmtune::cublas_preload
