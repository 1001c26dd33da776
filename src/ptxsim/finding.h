#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptxsim/ast.h"

namespace gemmtune::ptxsim {

enum class FindingKind : uint8_t {
  out_of_bounds,         // outside every allocation, window or variable
  misaligned,            // an address that is no multiple of the access size
  uninitialised_global,  // a read of bytes that nobody wrote
  uninitialised_shared,
  undefined_register,  // a register that was never written reaches memory, a branch or an mma
  shared_race,         // two threads, one a writer, no barrier between
  missing_async_wait,  // bytes of a cp.async that its thread has not waited for
  barrier_divergence,  // some threads of a warp or block cannot reach the barrier
  deadlock,            // everybody waits
  too_long,            // more instructions than Options::max_warp_instructions
  read_only,           // a store to constant or parameter memory
  invalid_operand,     // undefined behaviour of one instruction: the message says which
  trap,                // the kernel executed trap or brkpt
};
inline constexpr int kFindingKinds = static_cast<int>(FindingKind::trap) + 1;

// "out_of_bounds", ...
std::string_view name_of(FindingKind kind);

struct Index3 {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

// Something that a correct kernel never does. One Finding stands for every time the same
// instruction did the same thing; the fields describe the first time in block order.
struct Finding {
  FindingKind kind = FindingKind::out_of_bounds;
  std::string kernel;
  Position at;              // in the PTX
  std::string source_file;  // of the CUDA source, empty when the PTX has no .loc
  uint32_t source_line = 0;
  Index3 block;
  Index3 thread;
  uint64_t block_index = 0;  // x fastest
  uint64_t address = 0;      // generic; 0 when no address is concerned
  uint64_t times = 1;        // lanes that did it
  std::string message;
};

// One line: kind, kernel, places, thread, message.
std::string to_string(const Finding& finding);

}  // namespace gemmtune::ptxsim
