#include "cases.h"

#include <fmt/format.h>

#include <fstream>

namespace gemmtune::ptxsim::hardware {

std::vector<Case> all_cases() {
  std::vector<Case> out = elementwise_cases();
  for (auto* part : {warp_cases, memory_cases, matrix_cases}) {
    for (Case& test : part()) out.push_back(std::move(test));
  }
  return out;
}

// splitmix64 (S. Vigna).
uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::vector<std::byte> random_bytes(const std::string& name, size_t count) {
  uint64_t seed = 0;
  for (const char c : name) seed = mix(seed, static_cast<unsigned char>(c));
  std::vector<std::byte> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<std::byte>(mix(seed, i / 8) >> (8 * (i % 8)));
  }
  return out;
}

std::string module_around(const std::string& body, uint32_t arch, const std::string& declarations) {
  return fmt::format(R"(.version 8.0
.target sm_{}
.address_size 64
{}
.visible .entry test(.param .u64 param_in, .param .u64 param_out)
{{
  .reg .b64 in, out;
  .reg .b32 tid;
  ld.param.u64 in, [param_in];
  ld.param.u64 out, [param_out];
  cvta.to.global.u64 in, in;
  cvta.to.global.u64 out, out;
  mov.u32 tid, %tid.x;
{}
  ret;
}}
)",
                     arch, declarations, body);
}

void write_expected(const std::string& folder, const Case& test,
                    const std::vector<std::byte>& output) {
  std::ofstream file(folder + "/" + test.name + ".hex");
  for (size_t i = 0; i < output.size(); ++i) {
    file << fmt::format("{:02x}", static_cast<unsigned>(output[i]));
    if (i % 32 == 31) file << "\n";
  }
}

std::vector<std::byte> read_expected(const std::string& folder, const Case& test) {
  std::ifstream file(folder + "/" + test.name + ".hex");
  std::vector<std::byte> out;
  std::string line;
  while (std::getline(file, line)) {
    for (size_t i = 0; i + 1 < line.size(); i += 2) {
      out.push_back(static_cast<std::byte>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
  }
  return out;
}

}  // namespace gemmtune::ptxsim::hardware
