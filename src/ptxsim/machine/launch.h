// What all host threads of one run() share, and what each has of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptxsim/machine/simulator.h"
#include "ptxsim/report/findings_log.h"

namespace gemmtune::ptxsim {

// Immutable while blocks run.
struct Launch {
  const Program& program;
  const LaunchConfig& config;
  const Options& options;
  GlobalMemory& memory;
  std::vector<std::byte> parameters;      // the parameter space
  std::vector<std::byte> register_image;  // Program's, with launch-wide values filled in
  uint32_t threads_per_block = 1;
  uint32_t warps_per_block = 1;
  uint32_t blocks_per_cluster = 1;
  uint64_t clusters = 1;
  uint32_t smem_bytes = 0;  // static and dynamic
};

// Counters and findings of one host thread.
struct WorkerLog {
  FindingsLog findings;
  ClassCounts total;
  std::vector<ClassCounts> by_instruction;  // empty without Options::profile
  std::vector<AccessCounts> accesses;       // by instruction; empty without Options::profile
};

}  // namespace gemmtune::ptxsim
