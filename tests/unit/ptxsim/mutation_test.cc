// Random damage to real PTX gives an error or another program, never a crash. The fuzzer searches
// further; this runs everywhere.
#include <array>
#include <string_view>
#include <utility>

#include "fixture.h"
#include "fuzz_one.h"

namespace gemmtune::ptxsim::testing {

namespace {

constexpr std::array<std::string_view, 24> kPieces = {
    ".reg", ".b32", "%r1", "{",     "}",      "[",    "]",          "(",
    ")",    ";",    ",",   "@!",    "|",      "-",    "4294967296", "0f",
    ".v4",  "\"",   "/*",  ".func", ".entry", "call", "$L__BB0_1:", "<99999999>"};

std::string mutate(const std::string& text, std::mt19937_64& random) {
  std::string out = text;
  const size_t edits = 1 + random() % 4;
  for (size_t i = 0; i < edits && !out.empty(); ++i) {
    const size_t at = random() % out.size();
    const size_t length = std::min<size_t>(out.size() - at, random() % 40);
    switch (random() % 5) {
      case 0:
        out.erase(at, length);
        break;
      case 1:
        out.insert(at, kPieces[random() % kPieces.size()]);
        break;
      case 2:
        out[at] = static_cast<char>(random());
        break;
      case 3:
        out.insert(at, out.substr(random() % out.size(), length));
        break;
      default:
        out.resize(at);
        break;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("damaged PTX never crashes the parser or the decoder") {
  std::mt19937_64 random(20240607);
  const std::pair<const char*, int> texts[] = {
      {"ordinary.ptx", 1500}, {"tensor.ptx", 1500}, {"hopper_gemm.ptx", 300}};
  for (const auto& [file, times] : texts) {
    const std::string text =
        read_text(std::string(GEMMTUNE_SOURCE_DIR) + "/tests/unit/ptxsim/kernels/" + file);
    REQUIRE(text.size() > 1000);
    for (int i = 0; i < times; ++i) {
      const std::string damaged = mutate(text, random);
      CHECK(fuzz_one(damaged));
    }
  }
}

TEST_CASE("pathological texts") {
  CHECK(fuzz_one(std::string(100000, '{')));
  CHECK(fuzz_one(std::string(100000, '[')));
  CHECK(fuzz_one(std::string("\0\0\0", 3)));
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n";
  CHECK(fuzz_one(head + std::string(100000, '{')));
  CHECK(fuzz_one(head + ".local .b8 x[4294967295]; .local .b8 y[4294967295];\n}"));
  CHECK(fuzz_one(head + ".shared .b8 x[4294967295]; .reg .b32 r; mov.u32 r, x;\n}"));
  CHECK(fuzz_one(head + "mov.u32 " + std::string(50000, '{') + ";\n}"));
  CHECK(fuzz_one(head + ".reg .b64 d; mov.b64 d, {};\n}"));
  CHECK(fuzz_one(head + ".reg .b32 %r<1048576>; mov.b32 %r1048575, 0;\n}"));
  std::string calls = ".version 8.0\n.target sm_80\n.address_size 64\n";
  calls += ".func f0()\n{\n ret;\n}\n";
  for (int i = 1; i < 40; ++i) {  // doubles at each level
    calls += ".func f" + std::to_string(i) + "()\n{\n";
    for (int j = 0; j < 2; ++j) calls += " call f" + std::to_string(i - 1) + ";\n";
    calls += "}\n";
  }
  CHECK(fuzz_one(calls + ".entry k()\n{\n call f39;\n}\n"));
}

}  // namespace gemmtune::ptxsim::testing
