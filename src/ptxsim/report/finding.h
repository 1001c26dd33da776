#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptxsim/syntax/ast.h"

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

// Each thing the simulator looks for. Every check has a planted fault in tests/sim/faults that
// nothing else finds.
enum class Check : uint8_t {
  global_bounds,
  shared_bounds,
  local_bounds,
  parameter_bounds,
  ended_block,  // shared memory of a block of the cluster that has ended
  global_alignment,
  shared_alignment,
  local_alignment,
  parameter_alignment,
  global_written,           // before it is read
  shared_written,           // before it is read
  guard_written,            // a predicate register, before it guards an instruction
  operand_written,          // a register, before it has an effect
  read_after_write,         // of shared memory, by different threads, with no barrier between
  write_after_write,        // the same
  write_after_read,         // the same
  read_of_pending,          // shared memory that a cp.async is still to write
  write_of_pending,         // the same
  proxy_fence,              // after generic writes that TMA or wgmma read
  warp_at_barrier,          // all lanes that live, where the barrier is aligned
  warp_at_cluster_barrier,  // the same
  ended_threads,            // that a barrier of the whole block waits for
  progress,                 // somebody can go on
  length,                   // Options::max_warp_instructions
  constant_store,
  parameter_store,
  branch_index,     // within its table
  uniform_barrier,  // the same barrier and count in all lanes
  barrier_range,    // of its number and count
  barrier_count,    // the same for all that arrive
  matrix_lanes,     // the whole warp at a matrix instruction
  matrix_address,   // the same in all lanes
  shuffle_source,   // takes part
  copy_size,        // a cp.async reads no more than it writes
  mbarrier_init,    // before it is used, and not twice
  mbarrier_count,   // of arrivals and bytes
  mbarrier_overwritten,
  tensor_map,       // fits the instruction
  bulk_wait,        // for TMA copies, before the threads end
  wgmma_registers,  // of a wgmma that was not waited for
  wgmma_fence,      // between a register's write and wgmma
  register_count,   // of setmaxnreg
  trap,
};
inline constexpr int kChecks = static_cast<int>(Check::trap) + 1;

// "global_bounds", ...
std::string_view name_of(Check check);
// What a finding of this check is.
FindingKind kind_of(Check check);

struct Index3 {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

// Something that a correct kernel never does. One Finding stands for every time the same
// instruction failed the same check; the fields describe the first time in block order.
struct Finding {
  FindingKind kind = FindingKind::out_of_bounds;  // kind_of(check)
  Check check = Check::global_bounds;
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
