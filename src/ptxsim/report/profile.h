#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ptxsim/decode/program.h"

namespace gemmtune::ptxsim {

// What one memory instruction did, all blocks together.
struct AccessCounts {
  Position at;
  SourceLine source;  // its file by Profile::files
  Space space = Space::global;
  InstructionClass category = InstructionClass::load;
  uint32_t bytes_per_lane = 0;
  uint64_t executions = 0;  // by a warp
  uint64_t lanes = 0;
  uint64_t sectors = 0;        // global: distinct 32-byte sectors, summed over executions
  uint64_t ideal_sectors = 0;  // the fewest that could hold as many bytes
  uint64_t wavefronts = 0;     // shared, also an asynchronous copy's: passes over the 32 banks
  uint64_t ideal_wavefronts = 0;

  // 1 is perfect. 0 when nothing was executed.
  double coalescing() const {
    return sectors == 0 ? 0.0 : static_cast<double>(ideal_sectors) / static_cast<double>(sectors);
  }
  uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }
  bool has_sectors() const { return space == Space::global || space == Space::constant; }
  bool has_wavefronts() const {
    return space == Space::shared || category == InstructionClass::async_copy;
  }
};

struct ClassCounts {
  uint64_t warp_instructions = 0;
  uint64_t lane_instructions = 0;  // lanes that were active
};

struct SpaceBytes {
  uint64_t read = 0;
  uint64_t written = 0;
};

// Counts of one launch. `total` is always filled; the rest when Options::profile asked for it.
struct Profile {
  ClassCounts total;
  std::array<ClassCounts, static_cast<size_t>(InstructionClass::kCount)> classes = {};
  std::array<SpaceBytes, 6> bytes = {};  // by Space
  std::vector<AccessCounts> accesses;    // in program order, executed ones only
  std::vector<std::string> files;        // of the CUDA source

  const ClassCounts& of(InstructionClass category) const {
    return classes[static_cast<size_t>(category)];
  }
  const SpaceBytes& of(Space space) const { return bytes[static_cast<size_t>(space)]; }
};

// "a.cuh:12", the CUDA source of an access of this profile; empty where it is not known.
std::string source_of(const Profile& profile, const AccessCounts& access);

// Tables for people: classes, bytes by space, then one line a memory instruction.
std::string to_string(const Profile& profile);

}  // namespace gemmtune::ptxsim
