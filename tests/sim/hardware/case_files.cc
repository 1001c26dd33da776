// Moves the cases to and from a device.
//   case_files dump DIR       writes DIR/NAME.ptx, DIR/NAME.in and DIR/cases.txt, one line a case:
//                             name, compute capability, grid, block, input bytes, output bytes
//   case_files import DIR TO  turns DIR/NAME.out, what the device left in the zeroed output, into
//                             TO/NAME.hex (TO is tests/sim/hardware/expected)
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cases.h"

namespace {

using namespace gemmtune::ptxsim::hardware;

void write_file(const std::string& path, const char* data, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(data, static_cast<std::streamsize>(size));
}

int dump(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream list(folder + "/cases.txt");
  for (const Case& test : all_cases()) {
    write_file(folder + "/" + test.name + ".ptx", test.ptx.data(), test.ptx.size());
    write_file(folder + "/" + test.name + ".in", reinterpret_cast<const char*>(test.input.data()),
               test.input.size());
    list << fmt::format("{} {} {} {} {} {}\n", test.name, test.arch, test.grid, test.block,
                        test.input.size(), test.output_bytes);
  }
  return 0;
}

int import(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(to);
  int missing = 0;
  for (const Case& test : all_cases()) {
    std::ifstream file(from + "/" + test.name + ".out", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (text.size() != test.output_bytes) {
      std::cerr << test.name << ": no output of " << test.output_bytes << " bytes\n";
      ++missing;
      continue;
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    write_expected(to, test, {bytes, bytes + text.size()});
  }
  return missing == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "dump" && argc == 3) return dump(argv[2]);
  if (mode == "import" && argc == 4) return import(argv[2], argv[3]);
  std::cerr << "case_files dump DIR | case_files import DIR TO\n";
  return 2;
}
