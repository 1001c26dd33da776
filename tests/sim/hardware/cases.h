// Small kernels that use every instruction the simulator knows at least once, to be compared with a
// real device: written once, run on the card once, the outputs kept in expected/.
//
// Every kernel is called `test` and has the parameters (.u64 in, .u64 out). A device recorder needs
// nothing else: for each case load `ptx`, copy `input` to the device, fill `output_bytes` with
// zeros, launch (grid, block), and store what comes back with write_expected().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gemmtune::ptxsim::hardware {

enum class Element : uint8_t { bits8, bits32, bits64, f32, f64 };

// How close the simulator must come. 0 and 0: bit-equal, NaNs too.
struct Tolerance {
  double ulps = 0;      // units in the last place of the expected value (f32, f64)
  double absolute = 0;  // alternatively
};

struct Case {
  std::string name;  // a file name: letters, digits, '.', '_'
  std::string ptx;
  uint32_t arch = 80;  // the least compute capability: 80, 90
  uint32_t grid = 1;
  uint32_t block = 32;
  std::vector<std::byte> input;
  size_t output_bytes = 0;
  Element element = Element::bits32;  // of the output, for Tolerance
  Tolerance tolerance;
  // A special register that has no determined value, with its destination: "e, %warpid". Empty: all
  // have. Every warp may have had another number there, below kMostUndetermined; its other words
  // must then agree bit by bit.
  std::string undetermined;
};

constexpr uint32_t kMostUndetermined = 64;

// All cases, always the same and in the same order.
std::vector<Case> all_cases();

// One instruction on 256 threads of edge values and random values.
std::vector<Case> elementwise_cases();
// Shuffles, votes, barriers, memory, atomics, matrices.
std::vector<Case> warp_cases();
std::vector<Case> memory_cases();
std::vector<Case> matrix_cases();

// `folder`/NAME.hex: the output as hexadecimal text, 32 bytes a line. read_expected() gives nothing
// when there is no such file.
void write_expected(const std::string& folder, const Case& test,
                    const std::vector<std::byte>& output);
std::vector<std::byte> read_expected(const std::string& folder, const Case& test);

// Deterministic values: the same on every machine.
uint64_t mix(uint64_t seed, uint64_t index);
std::vector<std::byte> random_bytes(const std::string& name, size_t count);

// A module around a kernel body. Registers every body may use: .b64 in, out, and %tid.x in `tid`.
std::string module_around(const std::string& body, uint32_t arch,
                          const std::string& declarations = "");

}  // namespace gemmtune::ptxsim::hardware
