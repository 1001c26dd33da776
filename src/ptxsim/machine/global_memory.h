#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace gemmtune::ptxsim {

// The simulated device's global memory: labelled allocations far apart from each other, so that
// any access outside one is seen, each with a flag a byte for "was written".
//
// A kernel running on several host threads reads and writes bytes through data() without locks, as
// on a GPU; allocating, freeing and the host's read and write must not run meanwhile.
class GlobalMemory {
 public:
  struct Allocation {
    uint64_t address = 0;
    uint64_t bytes = 0;
    std::string label;
    bool read_only = false;
    std::vector<std::byte> data;
    std::vector<uint8_t> written;  // a byte each, 0 or 1; empty: everything was written

    bool contains(uint64_t at, uint64_t size) const {
      return at - address < bytes && size <= bytes - (at - address);
    }
  };

  enum class Initial : uint8_t { unwritten, zero };

  // Reserves `bytes` whose address is a multiple of `alignment` (a power of two, at most 64 KiB;
  // 256 is what cudaMalloc gives) and not of twice it. `label` is what findings call it. Fails with
  // ErrorKind::usage when the alignment is none or there is no more room (16 TiB of addresses).
  Expected<uint64_t> allocate(uint64_t bytes, uint64_t alignment, std::string label,
                              Initial initial = Initial::unwritten);
  // Forgets an allocation; false when `address` is not the start of one.
  bool free(uint64_t address);

  // Host access. False, and nothing copied, when the range is not inside one allocation. write()
  // marks the bytes as written.
  bool write(uint64_t address, std::span<const std::byte> bytes);
  bool read(uint64_t address, std::span<std::byte> out) const;
  // Whether each of the bytes was written, by the host or a kernel.
  bool is_written(uint64_t address, uint64_t bytes) const;
  // Marks bytes as never written again, to catch a kernel that leaves output elements out.
  bool forget(uint64_t address, uint64_t bytes);

  // The allocation that holds `address`, or null. `nearest` (may be null) receives the closest one
  // otherwise, for messages.
  Allocation* find(uint64_t address);
  const Allocation* find(uint64_t address) const;
  const Allocation* nearest(uint64_t address) const;

 private:
  std::vector<std::unique_ptr<Allocation>> allocations_;  // by address
  uint64_t next_ = 0;
};

}  // namespace gemmtune::ptxsim
