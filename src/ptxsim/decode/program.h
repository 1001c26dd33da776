// A kernel decoded for execution: registers are byte offsets, branches are indices, function calls
// are inlined, and every instruction carries the function that executes it warp-wide.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ptxsim/syntax/ast.h"

namespace gemmtune::ptxsim {

inline constexpr uint32_t kWarpSize = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFFU;

// Byte offset of a row in a warp's register file. A row holds one register of all 32 lanes: 32
// values of its width, or one 32-bit lane mask for a predicate.
using Row = uint32_t;
inline constexpr Row kNoRow = 0xFFFFFFFFU;
inline constexpr uint32_t kRowAlignment = 64;  // bytes: a cache line
// Whether a register is defined is known of each of its 32-bit words. Word i of the register at
// `row` goes by the name of row + i * kWordStep there; what is narrower is one word.
inline constexpr uint32_t kWordStep = 4 * kWarpSize;
constexpr uint32_t words_of(uint32_t bytes) {
  return bytes < 8 ? 1 : bytes / 4;
}
inline constexpr uint32_t kNoTarget = 0xFFFFFFFFU;

class Warp;
struct Instruction;

// What an instruction asks of the execution loop.
enum class Step : uint8_t {
  next,        // go on with the following instruction
  branch,      // the lanes in `mask` go to Instruction::target
  indirect,    // each lane in `mask` goes to its entry of Program::branch_tables
  exit,        // the lanes in `mask` end
  wait,        // blocked at a barrier; the lanes go on with the next instruction when it opens
  retry,       // blocked: the same instruction is executed again later
  poll,        // blocked at an mbarrier: the same instruction is executed again when it has changed
  rendezvous,  // blocked until other lanes of the warp reach a warp-synchronous instruction
  fault,       // a finding that ends the block
};

using Execute = Step (*)(Warp& warp, const Instruction& instruction, uint32_t mask);

// The classes that profiles count by.
enum class InstructionClass : uint8_t {
  integer,
  float32,
  float64,
  float16,
  convert,
  move,
  predicate,
  control,
  barrier,
  warp,  // shuffles and votes
  load,
  store,
  atomic,
  async_copy,
  matrix,
  special,  // transcendental approximations
  kCount,
};
std::string_view name_of(InstructionClass category);

// One memory operation's fixed properties.
struct AccessShape {
  Space space = Space::generic;
  uint8_t element_bytes = 0;
  uint8_t elements = 1;      // of a vector access, a lane
  bool wide_address = true;  // the address row holds 64-bit values
  bool is_atomic = false;    // volatile, relaxed, acquire...: races with plain accesses only
};

struct Instruction {
  Execute execute = nullptr;
  std::array<Row, 6> op = {};  // destination first; unused entries are 0
  int64_t immediate = 0;       // address offset, selector, count: the handler's own
  Row guard = kNoRow;
  bool guard_negated = false;
  InstructionClass category = InstructionClass::integer;
  uint16_t variant = 0;  // the handler's own
  uint32_t list = 0;     // first of its rows in Program::rows
  uint16_t list_size = 0;
  AccessShape access;
  uint32_t target = kNoTarget;         // branches
  uint32_t reconvergence = kNoTarget;  // where diverged lanes meet again; kNoTarget: at exit
  bool reports_undefined = false;      // an undefined operand is a finding, not passed on
  bool is_wgmma = false;               // checks its registers itself
  uint16_t sum_reads = 0;              // the last of its reads: only if op[2] says so (wgmma)
  bool selects = false;                // op[0] = op[3] ? op[1] : op[2]
  bool passes_words = false;           // each of its writes is defined as the read of that place
  uint32_t first_read = 0;             // its rows in Program::reads and writes
  uint32_t first_write = 0;
  uint16_t read_count = 0;
  uint16_t write_count = 0;
  Position at;
  SourceLine source;
};

// Where the special registers live.
struct SpecialRows {
  Row tid[3], ntid[3], ctaid[3], nctaid[3];
  Row laneid, warpid, nwarpid, smid, nsmid, gridid;
  Row lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt;
  Row clock, clock64, globaltimer;
  Row clusterid[3], nclusterid[3], cluster_ctaid[3], cluster_nctaid[3];
  Row cluster_ctarank, cluster_nctarank;
  Row dynamic_smem_size, total_smem_size;
  Row carry;  // a predicate row: add.cc and its like
};

struct Parameter {
  std::string name;
  uint32_t offset = 0;  // bytes in the parameter space
  uint32_t bytes = 0;
  uint32_t alignment = 1;  // bytes
};

// A module variable in global or constant memory.
struct VariableRelocation {
  uint64_t at = 0;        // byte in the variable
  uint32_t variable = 0;  // whose address is written there
  int64_t offset = 0;
  uint32_t bytes = 8;
};
struct ModuleVariable {
  std::string name;
  Space space = Space::global;
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  std::vector<uint8_t> initial;
  std::vector<VariableRelocation> relocations;
};

// At launch `row` receives the address of variables[variable] plus `offset`.
struct AddressPatch {
  Row row = kNoRow;
  uint32_t variable = 0;
  int64_t offset = 0;
};

// Immutable after decode(): may be run from several threads at once.
struct Program {
  std::string kernel;
  std::string module;
  std::vector<std::string> files;  // by `.file` index
  std::vector<Instruction> code;
  std::vector<Row> rows;           // operand lists
  std::vector<Row> reads, writes;  // words, for the check of undefined registers
  std::vector<std::vector<uint32_t>> branch_tables;
  std::vector<Row> registers;             // words that are undefined at start, unlike immediates
  std::vector<std::byte> register_image;  // a warp's register file at start: immediates set
  SpecialRows special = {};
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  std::vector<ModuleVariable> variables;
  std::vector<AddressPatch> patches;
  uint32_t static_smem_bytes = 0;     // the dynamic part begins here, already aligned
  uint32_t local_bytes = 0;           // a thread
  uint32_t required_threads[3] = {};  // .reqntid; 0: any
  uint32_t required_cluster[3] = {};
  uint32_t max_threads = 0;       // .maxntid product; 0: any
  uint32_t shared_granule = 4;    // bytes: the smallest shared access, 1, 2 or 4
  bool uses_async_proxy = false;  // TMA or wgmma
  bool uses_wgmma = false;
  bool may_read_undefined = false;  // some register may be read before it is written
};

// Resolves and checks everything about one kernel that does not depend on the launch: an unknown
// instruction, modifier, register or label fails with ErrorKind::usage (or unsupported) and
// "module:line:column: ...". A kernel that is not in the module fails with not_found.
Expected<Program> decode(const Module& module, std::string_view kernel);

}  // namespace gemmtune::ptxsim
