#include "ptxsim/machine/global_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptxsim/decode/address_space.h"

namespace gemmtune::ptxsim {

namespace {

// Bytes of address space, not of host memory: no index error of a GEMM of moderate size jumps it.
constexpr uint64_t kGuardBytes = uint64_t{1} << 28;
constexpr uint64_t kRoom = uint64_t{1} << 44;

}  // namespace

Expected<uint64_t> GlobalMemory::allocate(uint64_t bytes, uint64_t alignment, std::string label,
                                          Initial initial) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > 65536) {
    return usage_error(
        fmt::format("{}: the alignment {} is no power of two up to 65536", label, alignment));
  }
  const uint64_t address =
      (kGlobalBase + next_ + kGuardBytes + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) +
      alignment;
  if (bytes > kRoom || address + bytes > kGlobalBase + kRoom) {
    return usage_error(fmt::format("{}: {} bytes do not fit simulated memory", label, bytes));
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->bytes = bytes;
  allocation->label = std::move(label);
  allocation->data.resize(bytes);
  if (initial == Initial::unwritten) allocation->written.resize(bytes);
  allocations_.push_back(std::move(allocation));
  next_ = address + bytes - kGlobalBase;
  return address;
}

bool GlobalMemory::free(uint64_t address) {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [&](const auto& entry) { return entry->address == address; });
  if (found == allocations_.end()) return false;
  allocations_.erase(found);
  return true;
}

const GlobalMemory::Allocation* GlobalMemory::find(uint64_t address) const {
  const auto after =
      std::upper_bound(allocations_.begin(), allocations_.end(), address,
                       [](uint64_t at, const auto& entry) { return at < entry->address; });
  if (after == allocations_.begin()) return nullptr;
  const Allocation* candidate = std::prev(after)->get();
  return address - candidate->address < candidate->bytes ? candidate : nullptr;
}

GlobalMemory::Allocation* GlobalMemory::find(uint64_t address) {
  return const_cast<Allocation*>(static_cast<const GlobalMemory*>(this)->find(address));
}

const GlobalMemory::Allocation* GlobalMemory::nearest(uint64_t address) const {
  const Allocation* best = nullptr;
  uint64_t best_distance = 0;
  for (const auto& entry : allocations_) {
    const uint64_t distance = address < entry->address ? entry->address - address
                                                       : address - (entry->address + entry->bytes);
    if (best == nullptr || distance < best_distance) {
      best = entry.get();
      best_distance = distance;
    }
  }
  return best;
}

bool GlobalMemory::write(uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return true;
  Allocation* allocation = find(address);
  if (allocation == nullptr || !allocation->contains(address, bytes.size())) return false;
  const uint64_t offset = address - allocation->address;
  std::memcpy(allocation->data.data() + offset, bytes.data(), bytes.size());
  if (!allocation->written.empty()) {
    std::memset(allocation->written.data() + offset, 1, bytes.size());
  }
  return true;
}

bool GlobalMemory::read(uint64_t address, std::span<std::byte> out) const {
  if (out.empty()) return true;
  const Allocation* allocation = find(address);
  if (allocation == nullptr || !allocation->contains(address, out.size())) return false;
  std::memcpy(out.data(), allocation->data.data() + (address - allocation->address), out.size());
  return true;
}

bool GlobalMemory::is_written(uint64_t address, uint64_t bytes) const {
  if (bytes == 0) return true;
  const Allocation* allocation = find(address);
  if (allocation == nullptr || !allocation->contains(address, bytes)) return false;
  if (allocation->written.empty()) return true;
  const auto begin =
      allocation->written.begin() + static_cast<ptrdiff_t>(address - allocation->address);
  return std::all_of(begin, begin + static_cast<ptrdiff_t>(bytes),
                     [](uint8_t w) { return w != 0; });
}

bool GlobalMemory::forget(uint64_t address, uint64_t bytes) {
  Allocation* allocation = find(address);
  if (allocation == nullptr || !allocation->contains(address, bytes)) return false;
  if (allocation->written.empty()) allocation->written.assign(allocation->bytes, 1);
  std::memset(allocation->written.data() + (address - allocation->address), 0, bytes);
  return true;
}

}  // namespace gemmtune::ptxsim
