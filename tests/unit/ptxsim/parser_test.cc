#include "fixture.h"
#include "ptxsim/syntax/lexer.h"

namespace gemmtune::ptxsim::testing {

namespace {

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string kernel(const std::string& body) {
  return kHead + ".visible .entry k(.param .u64 p)\n{\n" + body + "\n}\n";
}

// The message of an error that parse() or decode() must give.
std::string error_of(const std::string& text) {
  const Expected<Module> module = parse(text, "t.ptx");
  if (!module) return module.error().message;
  const Expected<Program> program = decode(*module, "k");
  CHECK_MESSAGE(!program.has_value(), text);
  return program ? "" : program.error().message;
}

bool starts_with(const std::string& text, const std::string& start) {
  CHECK_MESSAGE(text.substr(0, start.size()) == start, text);
  return true;
}

}  // namespace

TEST_CASE("tokens carry their place and value") {
  Lexer lexer("ld.shared::cta.f32 %r1, 0f3F800000; // comment\n/* two\nlines */ -0x1F 1.5e3 \"s\"");
  const Token ld = lexer.next();
  CHECK(ld.kind == Token::Kind::identifier);
  CHECK(lexer.next().text == "shared::cta");
  CHECK(lexer.next().is_directive("f32"));
  CHECK(lexer.next().text == "%r1");
  CHECK(lexer.next().is(','));
  CHECK(lexer.next().bits == 0x3F800000);
  CHECK(lexer.next().is(';'));
  const Token minus = lexer.next();
  CHECK(minus.is('-'));
  CHECK(minus.at.line == 3);
  CHECK(minus.at.column == 10);
  CHECK(lexer.next().bits == 0x1F);
  CHECK(lexer.next().kind == Token::Kind::f64);
  CHECK(lexer.next().text == "s");
  CHECK(lexer.next().kind == Token::Kind::end);
  CHECK(lexer.next().kind == Token::Kind::end);
}

TEST_CASE("errors of syntax name line and column") {
  starts_with(error_of(""), "t.ptx:1:1: expected a .version");
  starts_with(error_of(kHead + "entry"), "t.ptx:4:1: expected a directive");
  starts_with(error_of(kernel("  add.s32 %r1 %r2;")), "t.ptx:6:15: expected \";\"");
  starts_with(error_of(kernel("  mov.b32 %r1, 0f3F8;")), "t.ptx:6:16: a floating-point constant");
  starts_with(error_of(kernel("  mov.b32 %r1, 99999999999999999999;")), "t.ptx:6:16: an integer");
  starts_with(error_of(kernel("  ld.global.b32 %r1, [%rd1;")), "t.ptx:6:27: expected \"]\"");
  starts_with(error_of(kernel("  .reg .v4 %v;")), "t.ptx:6:8: vector registers");
  starts_with(error_of(kernel("  .reg .b32 %r<0>;")), "t.ptx:6:16: expected a count");
  starts_with(error_of(kernel("  ` ")), "t.ptx:6:3: a character");
  starts_with(error_of(kHead + ".visible .entry k(.param .u64 p)\n{\n"), "t.ptx:6:1: expected");
  starts_with(error_of(kHead + ".global .align 3 .b8 x;"), "t.ptx:4:16: expected an alignment");
  starts_with(error_of(kHead + ".global .b8 x[2] = {1, 2, 3};"), "t.ptx:4:29: more initial");
  starts_with(error_of(kHead + ".section .debug {"), "t.ptx:4:18: expected \"}\"");
  starts_with(error_of(kHead + ".global .b8 x = \"open"), "t.ptx:4:17: a string without");
}

TEST_CASE("errors of meaning name the instruction and its place") {
  CHECK(error_of(kernel("  .reg .b32 %r<3>;\n  frobnicate.b32 %r1, %r2;")) ==
        "t.ptx:7:3: the instruction \"frobnicate.b32\" is not simulated");
  CHECK(error_of(kernel("  .reg .b32 %r<3>;\n  add.odd.s32 %r1, %r2, %r0;")) ==
        "t.ptx:7:3: the instruction \"add.odd.s32\" is not simulated: because of .odd");
  starts_with(error_of(kernel("  add.s32 %r1, %r2, %r0;")), "t.ptx:6:3: add.s32: \"%r1\"");
  starts_with(error_of(kernel("  .reg .b32 %r<3>;\n  add.s32 %r1, %r2, %r3;")),
              "t.ptx:7:3: add.s32: \"%r3\"");
  starts_with(error_of(kernel("  .reg .b32 %r<3>;\n  add.s64 %r1, %r2, %r0;")),
              "t.ptx:7:3: add.s64: \"%r1\" is too narrow");
  starts_with(error_of(kernel("  .reg .b64 %r<3>;\n  add.s32 %r1, %r2, %r0;")),
              "t.ptx:7:3: add.s32: \"%r1\" has 8 bytes where 4");
  starts_with(error_of(kernel("  bra NOWHERE;")), "t.ptx:6:3: there is no label");
  starts_with(error_of(kernel("X:\nX:\n")), "t.ptx:7:1: the label \"X\" stands twice");
  starts_with(error_of(kernel("  @%p1 ret;")), "t.ptx:6:8: \"%p1\" is not a predicate");
  starts_with(error_of(kernel("  call nothing;")), "t.ptx:6:3: the function \"nothing\"");
  starts_with(error_of(kernel("  .reg .b32 %r<3>;\n  ld.global.v4.b32 {%r0, %r1}, [p];")),
              "t.ptx:7:3: ld.global.v4.b32: a wrong number");
  starts_with(error_of(kHead + ".func f()\n{\n  call f;\n  ret;\n}\n.entry k()\n{\n  call f;\n}\n"),
              "t.ptx:6:3: \"f\" is recursive");
  CHECK(error_of(kHead) == "t.ptx: no kernel is called \"k\"");
}

TEST_CASE("names in inner scopes hide those outside, and end with them") {
  const Module module = parse_text(kernel(R"(
  .reg .b32 x, y;
  .reg .b64 at;
  ld.param.u64 at, [p];
  mov.b32 x, 1;
  {
    .reg .b32 x;
    .reg .pred q;
    mov.b32 x, 2;
    setp.eq.u32 q, x, 2;
    @q bra DONE;
    mov.b32 y, 99;
DONE:
    add.u32 y, x, 40;
  }
  add.u32 y, y, x;
  st.global.b32 [at], y;
  ret;)"));
  GlobalMemory memory;
  const Buffer<uint32_t> out(memory, 1, "out");
  const RunResult result = run_ok(module, "k", {}, {argument(out.address())}, memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  CHECK(out.get()[0] == 43);
}

TEST_CASE("initialisers, relocations and constant memory") {
  const Module module = parse_text(kHead + R"(
.const .align 8 .u64 pointers[2] = {generic(table), table+4};
.global .align 4 .b32 table[3] = {7, -1, 0x10};
.visible .entry k(.param .u64 p)
{
  .reg .b64 at, to;
  .reg .b32 x, y;
  ld.param.u64 to, [p];
  ld.const.u64 at, [pointers];
  ld.u32 x, [at+8];
  ld.const.u64 at, [pointers+8];
  ld.global.u32 y, [at];
  add.u32 x, x, y;
  st.global.u32 [to], x;
  ret;
})");
  GlobalMemory memory;
  const Buffer<uint32_t> out(memory, 1, "out");
  const RunResult result = run_ok(module, "k", {}, {argument(out.address())}, memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  CHECK(out.get()[0] == 15);
}

TEST_CASE("a store to constant memory or a parameter is a finding") {
  const Module module = parse_text(kHead + R"(
.const .align 4 .b32 table[3] = {7, -1, 0x10};
.visible .entry k(.param .u64 p)
{
  .reg .b64 at;
  mov.u64 at, table;
  st.u32 [at+4], 5;
  mov.u64 at, p;
  cvta.param.u64 at, at;
  st.u32 [at], 5;
  ret;
})");
  GlobalMemory memory;
  const RunResult result = run_ok(module, "k", {}, {argument(uint64_t{1})}, memory);
  REQUIRE(result.findings.size() == 2);
  for (const Finding& finding : result.findings) CHECK(finding.kind == FindingKind::read_only);
}

TEST_CASE("a launch that does not fit the kernel is refused") {
  const Module module = parse_text(
      kHead + ".visible .entry k(.param .u64 p, .param .b32 q)\n.maxntid 64, 1, 1\n{\n  ret;\n}\n");
  GlobalMemory memory;
  const Arguments good = {argument(uint64_t{0}), argument(uint32_t{0})};
  LaunchConfig launch;
  launch.block[0] = 64;
  CHECK(run(module, "k", launch, good, memory).has_value());
  CHECK(!run(module, "k", launch, {argument(uint64_t{0})}, memory).has_value());
  CHECK(!run(module, "k", launch, {argument(uint64_t{0}), argument(uint64_t{0})}, memory));
  launch.block[0] = 65;
  CHECK(!run(module, "k", launch, good, memory).has_value());
  launch.block[0] = 0;
  CHECK(!run(module, "k", launch, good, memory).has_value());
  launch.block[0] = 64;
  launch.grid[1] = 0;
  CHECK(!run(module, "k", launch, good, memory).has_value());
  launch.grid[1] = 3;
  launch.cluster[1] = 2;
  CHECK(!run(module, "k", launch, good, memory).has_value());
  launch.cluster[1] = 0;
  CHECK(!run(module, "k", launch, good, memory).has_value());
  launch.cluster[1] = 1;
  launch.dynamic_smem_bytes = 228 * 1024;
  CHECK(!run(module, "k", launch, good, memory).has_value());
}

TEST_CASE("so is one that does not fit what the kernel requires, or any block or cluster") {
  const auto runs = [](const std::string& directives, uint32_t threads, uint32_t cluster) {
    const Module module =
        parse_text(kHead + ".visible .entry k()\n" + directives + "\n{\n  ret;\n}\n");
    GlobalMemory memory;
    LaunchConfig launch;
    launch.block[0] = threads;
    launch.cluster[0] = cluster;
    launch.grid[0] = 2 * cluster;
    return run(module, "k", launch, {}, memory).has_value();
  };
  CHECK(runs("", 1024, 16));
  CHECK(!runs("", 1025, 1));
  CHECK(!runs("", 32, 17));
  CHECK(runs(".reqntid 64, 1, 1", 64, 1));
  CHECK(!runs(".reqntid 64, 1, 1", 32, 1));
  CHECK(runs(".reqnctapercluster 4, 1, 1", 32, 4));
  CHECK(!runs(".reqnctapercluster 4, 1, 1", 32, 2));
}

}  // namespace gemmtune::ptxsim::testing
