#include "jit/resource_usage.h"

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <sstream>

namespace gemmtune::jit {
namespace {

// A log that a real NVRTC 13.0 wrote.
std::string sample(const std::string& name) {
  std::ifstream file(std::string(GEMMTUNE_SOURCE_DIR) + "/tests/unit/jit/logs/" + name);
  REQUIRE(file.is_open());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("spills, stack and a device function that is not inlined") {
  const PtxasReport report = parse_ptxas_log(sample("spills_and_call.log"));
  REQUIRE(report.entries.size() == 2);
  CHECK(report.entries[0] == EntryUsage{"plain", {8, 0, 0, 0, 0, 360, 0}});
  CHECK(report.entries[1] == EntryUsage{"spilly", {32, 1172, 1136, 1104, 0, 360, 1}});
  CHECK(spill_bytes(report.entries) == 1172 + 1136);
  CHECK(spill_bytes(std::span(report.entries).first(1)) == 0);
  CHECK(most_registers(report.entries) == 32);
  CHECK(report.warnings.empty());
}

TEST_CASE("the module's own constants are not the entry's, and a warning is kept") {
  const PtxasReport report = parse_ptxas_log(sample("const_banks.log"));
  REQUIRE(report.entries.size() == 1);
  CHECK(report.entries[0].entry == "two");
  CHECK(report.entries[0].usage.static_smem_bytes == 1024);
  CHECK(report.entries[0].usage.const_bytes == 372);
  CHECK(report.warnings.size() == 1);
  CHECK(report.entries[0].usage.barriers == 1);
}

TEST_CASE("performance notes are kept as warnings") {
  const PtxasReport report = parse_ptxas_log(sample("wgmma_serialized.log"));
  REQUIRE(report.entries.size() == 1);
  CHECK(report.entries[0].usage.registers == 30);
  REQUIRE(report.warnings.size() == 5);
  CHECK(report.warnings[4].find("(C7511) Potential Performance Loss") != std::string::npos);
}

TEST_CASE("the first error line of each kind of failure") {
  CHECK(first_error_line(sample("cpp_errors.log")) ==
        "k.cu(1): error: identifier \"undefined_thing\" is undefined");
  CHECK(first_error_line(sample("missing_include.log")) ==
        "k.cu(1): catastrophic error: cannot open source file \"missing.cuh\"");
  CHECK(first_error_line(sample("wrong_target.log")).find("'wgmma.fence' not supported") !=
        std::string::npos);
  CHECK(first_error_line("nvrtc: error: unrecognized option --bogus found\n") ==
        "nvrtc: error: unrecognized option --bogus found");
  CHECK(first_error_line("ptxas fatal   : Ptx assembly aborted due to errors") != "");
  for (const char* good : {"spills_and_call.log", "const_banks.log", "wgmma_serialized.log"})
    CHECK(first_error_line(sample(good)).empty());
  CHECK(
      first_error_line(sample("too_much_smem.log")) ==
      "ptxas error   : Entry function 'big' uses too much shared data (0x3a980 bytes, 0xc000 max)");
  CHECK(parse_ptxas_log(sample("cpp_errors.log")).warnings.size() == 1);
}

TEST_CASE("a log that is written from random usages reads back as those") {
  std::mt19937 random(7);
  const auto draw = [&](int limit) { return std::uniform_int_distribution<int>(0, limit)(random); };
  for (int round = 0; round < 300; ++round) {
    std::ostringstream log;
    std::vector<EntryUsage> expected;
    log << "ptxas info    : 0 bytes gmem\n";
    for (int i = draw(4); i >= 0; --i) {
      EntryUsage e{"kernel_" + std::to_string(i), {}};
      e.usage = {draw(255), draw(4000), draw(4000), draw(9000), draw(1) * draw(49152), 0, draw(16)};
      const int bank0 = draw(4096);
      const int bank2 = draw(1) * draw(999);
      e.usage.const_bytes = bank0 + bank2;
      log << "ptxas info    : Compiling entry function '" << e.entry << "' for 'sm_80'\n"
          << "ptxas info    : Function properties for " << e.entry << "\n"
          << "ptxas         .     " << e.usage.stack_bytes << " bytes stack frame, "
          << e.usage.spill_store_bytes << " bytes spill stores, " << e.usage.spill_load_bytes
          << " bytes spill loads\nptxas info    : Used " << e.usage.registers << " registers, used "
          << e.usage.barriers << " barriers, ";
      if (e.usage.static_smem_bytes > 0) log << e.usage.static_smem_bytes << " bytes smem, ";
      log << bank0 << " bytes cmem[0]";
      if (bank2 > 0) log << ", " << bank2 << " bytes cmem[2]";
      log << (draw(1) != 0 ? "\r\n" : "\n") << "ptxas info    : Compile time = 8.441 ms\n";
      expected.push_back(e);
    }
    CHECK(parse_ptxas_log(log.str()).entries == expected);
  }
}

TEST_CASE("damaged logs are read without harm") {
  std::mt19937 random(11);
  const std::string whole = sample("spills_and_call.log") + sample("wgmma_serialized.log");
  for (std::size_t size = 0; size <= whole.size(); size += 7) {
    parse_ptxas_log(std::string_view(whole).substr(0, size));
    first_error_line(std::string_view(whole).substr(size));
  }
  for (int round = 0; round < 500; ++round) {
    std::string text = whole;
    for (int i = 0; i < 20; ++i) text[random() % text.size()] = static_cast<char>(random() % 256);
    for (const EntryUsage& e : parse_ptxas_log(text).entries) CHECK_FALSE(e.entry.empty());
  }
  CHECK(parse_ptxas_log("Used 99999999999999999999 registers").entries.empty());
}

}  // namespace
}  // namespace gemmtune::jit
