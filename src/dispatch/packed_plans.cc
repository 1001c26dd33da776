#include "dispatch/packed_plans.h"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace gemmtune::dispatch {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;

size_t pages(size_t bytes) {
  return (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

}  // namespace

void PackedPlans::Unmap::operator()(Slot* slots) const {
  munmap(slots, bytes);
}

// Zeroed memory, which is what free slots are, from the system itself: large tables ask for large
// pages, without which a random lookup spends its time in the page tables.
std::unique_ptr<PackedPlans::Slot[], PackedPlans::Unmap> PackedPlans::allocate(size_t count) {
  const size_t bytes = count * sizeof(Slot);
  const bool large = bytes >= kLargePage;
  // With a large page to spare, so that the table can begin on a border.
  const size_t mapped = large ? pages(bytes) + kLargePage : bytes;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* first = static_cast<std::byte*>(memory);
  size_t size = mapped;
  if (large) {
    const size_t before =
        (kLargePage - reinterpret_cast<uintptr_t>(first) % kLargePage) % kLargePage;
    if (before > 0) munmap(first, before);
    if (before < kLargePage) munmap(first + before + pages(bytes), kLargePage - before);
    first += before;
    size = pages(bytes);
    madvise(first, size, MADV_HUGEPAGE);  // a wish: without it lookups are only slower
  }
  auto* slots = reinterpret_cast<Slot*>(first);
  for (size_t i = 0; i < count; ++i) new (slots + i) Slot;
  return {slots, Unmap{size}};
}

PackedPlans::PackedPlans(const ProblemIndex& known) {
  size_t count = 0;
  for (uint32_t i = 0; i < known.size(); ++i) count += packed(known[i]).has_value() ? 1 : 0;
  if (count == 0) return;
  const size_t size = std::bit_ceil(2 * count);
  mask_ = size - 1;
  slots_ = allocate(size);
  for (uint32_t i = 0; i < known.size(); ++i) {
    const auto problem = packed(known[i]);
    if (!problem) continue;
    Slot& slot = free_or_same(*problem);
    slot.m = problem->m;
    slot.n = problem->n;
    slot.k = problem->k;
    slot.kind = kind_of(*problem);
  }
}

}  // namespace gemmtune::dispatch
