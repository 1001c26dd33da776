// What the simulator's tests share: checked-in PTX, buffers in simulated memory.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "ptxsim/machine/simulator.h"

namespace gemmtune::ptxsim::testing {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A module from this folder's kernels/NAME.ptx.
inline Module load_module(const std::string& name) {
  const std::string path = std::string(GEMMTUNE_SOURCE_DIR) + "/tests/unit/ptxsim/kernels/" + name;
  Expected<Module> module = parse(read_text(path), name);
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error().message));
  return std::move(*module);
}

inline Module parse_text(const std::string& text) {
  Expected<Module> module = parse(text, "test");
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error().message));
  return std::move(*module);
}

// An array of T in simulated memory.
template <class T>
class Buffer {
 public:
  Buffer(GlobalMemory& memory, size_t count, const std::string& label, bool written = false)
      : memory_(memory), count_(count) {
    const Expected<uint64_t> address =
        memory.allocate(count * sizeof(T), 256, label,
                        written ? GlobalMemory::Initial::zero : GlobalMemory::Initial::unwritten);
    REQUIRE(address.has_value());
    address_ = *address;
  }
  Buffer(GlobalMemory& memory, const std::vector<T>& values, const std::string& label)
      : Buffer(memory, values.size(), label) {
    set(values);
  }
  void set(const std::vector<T>& values) {
    REQUIRE(memory_.write(address_, std::as_bytes(std::span(values))));
  }
  std::vector<T> get() const {
    std::vector<T> out(count_);
    REQUIRE(memory_.read(address_, std::as_writable_bytes(std::span(out))));
    return out;
  }
  uint64_t address() const { return address_; }

 private:
  GlobalMemory& memory_;
  size_t count_;
  uint64_t address_ = 0;
};

inline std::string describe(const RunResult& result) {
  std::string out;
  for (const Finding& finding : result.findings) out += to_string(finding) + "\n";
  return out;
}

inline RunResult run_ok(const Module& module, const std::string& kernel, const LaunchConfig& launch,
                        const Arguments& arguments, GlobalMemory& memory,
                        const Options& options = {}) {
  Expected<RunResult> result = run(module, kernel, launch, arguments, memory, options);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  return std::move(*result);
}

// A kernel k(.u64 p) whose `out` is its argument, with a few registers and the thread's numbers
// set.
inline Module module_with(const std::string& body, const std::string& declarations = "") {
  return parse_text(".version 8.0\n.target sm_90\n.address_size 64\n" + declarations +
                    "\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 out, at;\n"
                    "  .reg .b32 tid, lane, x, y, z;\n  .reg .pred p0, p1;\n"
                    "  ld.param.u64 out, [p];\n  mov.u32 tid, %tid.x;\n  mov.u32 lane, %laneid;\n" +
                    body + "\n  ret;\n}\n");
}

struct Outcome {
  RunResult result;
  std::vector<uint32_t> out;
};

// Runs such a kernel on 256 words of zeros.
inline Outcome run_body(const std::string& body, const LaunchConfig& launch,
                        const Options& options = {}, const std::string& declarations = "") {
  GlobalMemory memory;
  const Buffer<uint32_t> out(memory, 256, "out", true);
  Outcome outcome;
  outcome.result = run_ok(module_with(body, declarations), "k", launch, {argument(out.address())},
                          memory, options);
  outcome.out = out.get();
  return outcome;
}

inline std::vector<float> random_floats(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> values(-1.0F, 1.0F);
  std::vector<float> out(count);
  for (float& value : out) value = values(random);
  return out;
}

}  // namespace gemmtune::ptxsim::testing
