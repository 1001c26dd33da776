#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gemmtune::jit {

// What one kernel takes, as the assembler reports it. Per thread unless the name says otherwise.
struct ResourceUsage {
  int registers = 0;
  int spill_load_bytes = 0;
  int spill_store_bytes = 0;
  int stack_bytes = 0;
  int static_smem_bytes = 0;  // per block
  int const_bytes = 0;        // the entry's constant banks, parameters included
  int barriers = 0;           // per block

  bool operator==(const ResourceUsage&) const = default;
};

struct EntryUsage {
  std::string entry;  // the kernel's extern "C" name
  ResourceUsage usage;

  bool operator==(const EntryUsage&) const = default;
};

// Bytes a thread stores and loads for want of registers, over all kernels of a candidate.
int spill_bytes(std::span<const EntryUsage> entries);

// Registers per thread of the kernel of a candidate that takes most.
int most_registers(std::span<const EntryUsage> entries);

// What a compiler log says, beside errors.
struct PtxasReport {
  std::vector<EntryUsage> entries;    // in log order
  std::vector<std::string> warnings;  // "warning" lines and performance notes such as C7510
};

// Reads the log of --ptxas-options=-v. Lines it does not know are passed over, so a newer assembler
// that says more is no failure; a kernel with no "Used ... registers" line is left out.
PtxasReport parse_ptxas_log(std::string_view log);

// The first line of a log that reports an error, trimmed; empty if there is none.
std::string first_error_line(std::string_view log);

}  // namespace gemmtune::jit
