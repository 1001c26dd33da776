#include "jit/sass.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace gemmtune::jit {
namespace {

std::string recorded(const char* name) {
  std::ifstream file(std::string(GEMMTUNE_SOURCE_DIR "/tests/unit/jit/sass/") + name);
  std::ostringstream text;
  text << file.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return text.str();
}

// A listing of one function with `body` as its code.
SassFunction function_of(const std::string& body) {
  auto functions = parse_sass(".text.f:\n" + body);
  REQUIRE_MESSAGE(functions.has_value(), functions.error().message);
  REQUIRE(functions->size() == 1);
  return std::move(functions->front());
}

// Instructions one after the other, addresses made up.
std::string code(std::initializer_list<const char*> lines) {
  std::string text;
  int address = 0;
  for (const char* line : lines) {
    char number[16];
    std::snprintf(number, sizeof number, "%04x", address);
    text += *line == '.' ? std::string(line) + "\n"
                         : "        /*" + std::string(number) + "*/    " + line + " ;\n";
    if (*line != '.') address += 16;
  }
  return text;
}

int conflicts(std::initializer_list<const char*> lines) {
  return mix_of(function_of(code(lines)).code).bank_conflicts;
}

}  // namespace

TEST_CASE("the listing of a kernel of ours, as nvdisasm 13 printed it") {
  const auto functions = parse_sass(recorded("smem_tile_sm_80.sass"));
  REQUIRE_MESSAGE(functions.has_value(), functions.error().message);
  REQUIRE(functions->size() == 1);
  const SassFunction& function = functions->front();
  CHECK(function.name == "smem_tile_f32_ttt_v444_8x8x8");
  CHECK(function.code.front().opcode == "IMAD.MOV.U32");
  CHECK(function.code.front().operands == "R1, RZ, RZ, c[0x0][0x28]");
  for (size_t i = 0; i < function.code.size(); ++i) CHECK(function.code[i].address == 16 * i);

  const auto loop = hot_loop(function);
  REQUIRE(loop);
  const auto body = code_of(function, *loop);
  CHECK(body.front().address == 0x7e0);
  CHECK(body.back().address == 0xaa0);
  CHECK(body.back().predicate == "@!P0");
  CHECK(body.back().target == loop->first);
  const InstructionMix mix = mix_of(body);
  CHECK(mix.instructions == 45);
  CHECK(mix.ffma == 8);
  CHECK(mix.reuse_flags == 0);
  CHECK(mix.bank_conflicts == 0);
  CHECK(mix.count("LDS") == 10);
  CHECK(mix.count("STS") == 2);
  CHECK(mix.count("LDG") == 2);
  CHECK(mix.count("BAR") == 2);
  CHECK(mix.count("LDL") == 0);
  int sum = 0;
  for (const auto& [mnemonic, count] : mix.commonest()) sum += count;
  CHECK(sum == mix.instructions);
  CHECK(mix.commonest().front().second >= mix.commonest().back().second);
  CHECK(mix_of(function.code).instructions > mix.instructions);
}

TEST_CASE("the hot loop is the innermost with the multiply-adds") {
  const SassFunction nested = function_of(code({
      ".L_x_0:",
      "IADD3 R1, R1, 0x1, RZ",
      ".L_x_1:",
      "FFMA R1, R2, R3, R1",
      "FFMA R4, R2, R3, R4",
      "@P0 BRA `(.L_x_1)",
      "FFMA R1, R2, R3, R1",
      "@P1 BRA `(.L_x_0)",
      ".L_x_2:",
      "FFMA R1, R2, R3, R1",
      "@P1 BRA `(.L_x_2)",
      "EXIT",
      ".L_x_3:",
      "BRA `(.L_x_3)",
  }));
  const auto loop = hot_loop(nested);
  REQUIRE(loop);
  CHECK(loop->first == 1);
  CHECK(loop->last == 3);
  // A forward branch is no loop, nor is one without arithmetic; a label of nowhere is ignored.
  const SassFunction straight =
      function_of(code({"@P0 BRA `(.L_x_1)", "FFMA R1, R2, R3, R1", ".L_x_1:", "EXIT",
                        ".L_x_2:", "BRA `(.L_x_2)", "BRA `(.L_x_9)"}));
  CHECK_FALSE(hot_loop(straight));
}

TEST_CASE("products on the tensor cores are multiply-adds too") {
  const SassFunction function = function_of(code({
      ".L_x_0:",
      "HMMA.16816.F32 R4, R12, R16, R4",
      "@P0 BRA `(.L_x_0)",
      ".L_x_1:",
      "IADD3 R1, R1, 0x1, RZ",
      "@P0 BRA `(.L_x_1)",
      "EXIT",
  }));
  const auto loop = hot_loop(function);
  REQUIRE(loop);
  CHECK(loop->first == 0);
  CHECK(mix_of(code_of(function, *loop)).count("HMMA") == 1);
}

TEST_CASE("what is a product on the tensor cores, by name") {
  for (const char* name : {"HMMA", "IMMA", "BMMA", "DMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA",
                           "BGMMA", "UTCHMMA", "UTCQMMA"}) {
    CHECK_MESSAGE(is_tensor_core(name), name);
  }
  for (const char* name : {"FFMA", "HFMA2", "DFMA", "IMAD", "LDSM", "WARPGROUP", ""})
    CHECK_FALSE_MESSAGE(is_tensor_core(name), name);
}

TEST_CASE("where the tensor cores compute, the loop of an epilogue is not the hot one") {
  const SassFunction function = function_of(code({
      ".L_x_0:",
      "LDSM.16.M88.4 R12, [R2]",
      "HGMMA.64x128x16.F32.BF16 R4, gdesc[UR4], R4",
      "IMMA.16832.S8.S8 R4, R12, R16, R4",
      "@P0 BRA `(.L_x_0)",
      ".L_x_1:",
      "FFMA R1, R2, R3, R1",
      "FFMA R4, R2, R3, R4",
      "FFMA R5, R2, R3, R5",
      "FFMA R6, R2, R3, R6",
      "FFMA R7, R2, R3, R7",
      "@P0 BRA `(.L_x_1)",
      "EXIT",
  }));
  const auto loop = hot_loop(function);
  REQUIRE(loop);
  CHECK(loop->first == 0);
  const InstructionMix mix = mix_of(code_of(function, *loop));
  CHECK(mix.tensor_core == 2);
  CHECK(mix.ffma == 0);
  CHECK(mix_of(function.code).tensor_core == 2);
}

TEST_CASE("labels of one function mean nothing in another") {
  const auto functions = parse_sass(
      ".text.f:\n.L_x_0:\n/*0000*/ EXIT ;\n.text.g:\n/*0000*/ BRA "
      "`(.L_x_0) ;\n");
  REQUIRE(functions);
  REQUIRE(functions->size() == 2);
  CHECK_FALSE((*functions)[1].code[0].target);
}

TEST_CASE("an FFMA conflicts where three registers of one bank are read") {
  CHECK(conflicts({"FFMA R0, R2, R4, R6"}) == 1);
  CHECK(conflicts({"FFMA R0, R1, R3, R5"}) == 1);
  CHECK(conflicts({"FFMA R0, R2, R4, R7"}) == 0);
  CHECK(conflicts({"FFMA R0, R2, R2, R4"}) == 0);   // two registers
  CHECK(conflicts({"FFMA R0, R2, R4, RZ"}) == 0);   // zero is no register
  CHECK(conflicts({"FFMA R0, R2, UR4, R6"}) == 0);  // nor is a uniform one of this file
  CHECK(conflicts({"FFMA R0, R2, c[0x0][0x188], R6"}) == 0);
  CHECK(conflicts({"FFMA.FTZ R0, -R2, |R4|, -R6"}) == 1);
  CHECK(conflicts({"FADD R0, R2, R4"}) == 0);  // counted for FFMAs only
  // What the instruction before kept in the same slot is not read again.
  CHECK(conflicts({"FFMA R0, R2.reuse, R5, R6", "FFMA R1, R2, R4, R8"}) == 0);
  CHECK(conflicts({"FFMA R0, R2, R5, R6", "FFMA R1, R2, R4, R8"}) == 1);        // not kept
  CHECK(conflicts({"FFMA R0, R5, R2.reuse, R6", "FFMA R1, R2, R4, R8"}) == 1);  // another slot
  CHECK(conflicts({"FFMA R0, R2.reuse, R5, R6", "EXIT", "FFMA R1, R2, R4, R8"}) == 1);
}

TEST_CASE("reuse flags are those of FFMAs, and what never runs is a NOP") {
  const InstructionMix mix =
      mix_of(function_of(code({"FFMA R0, R2.reuse, R5.reuse, R6", "IADD3 R0, R2.reuse, R5, RZ",
                               "@!PT LDS RZ, [RZ]", "@P0 LDS R1, [R2]"}))
                 .code);
  CHECK(mix.reuse_flags == 2);
  CHECK(mix.count("NOP") == 1);
  CHECK(mix.count("LDS") == 1);
}

TEST_CASE("encodings beside the code are passed over") {
  const SassFunction function = function_of(
      "  /*0000*/  LDC R1, c[0x0][0x28] ;     /* 0x0000001fff037819 */\n"
      "                                       /* 0x000fe40000011400 */\n"
      "  /*0010*/  EXIT ;                     /* 0x0000001fff037819 */\n");
  REQUIRE(function.code.size() == 2);
  CHECK(function.code[0].operands == "R1, c[0x0][0x28]");
}

TEST_CASE("what is no listing is an error") {
  CHECK_FALSE(parse_sass(""));
  CHECK_FALSE(parse_sass("nvdisasm fatal : nothing\n"));
  CHECK_FALSE(parse_sass("/*0000*/ EXIT ;\n"));  // of no function
  const auto bad = parse_sass(".text.f:\n/*00g0*/ EXIT ;\n");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.find("line 2") != std::string::npos);
  CHECK_FALSE(parse_sass(".text.f:\n/*0000*/ ;\n"));
}

TEST_CASE("no truncation of a listing crashes") {
  const std::string whole = recorded("smem_tile_sm_80.sass");
  for (size_t size = 0; size < whole.size(); size += 7) {
    const auto functions = parse_sass(std::string_view(whole).substr(0, size));
    if (!functions) continue;
    for (const SassFunction& function : *functions) {
      if (const auto loop = hot_loop(function)) CHECK(mix_of(code_of(function, *loop)).ffma > 0);
    }
  }
}

}  // namespace gemmtune::jit
