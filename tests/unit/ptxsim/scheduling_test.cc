// Lanes, warps and blocks that wait for one another; orders, limits and determinism.
#include <algorithm>

#include "fixture.h"

namespace gemmtune::ptxsim::testing {

namespace {

Outcome run_body(const std::string& body, uint32_t blocks, uint32_t threads,
                 const Options& options = {}, const std::string& declarations = "") {
  LaunchConfig launch;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  return testing::run_body(body, launch, options, declarations);
}

bool has(const RunResult& result, FindingKind kind) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const Finding& finding) { return finding.kind == kind; });
}

}  // namespace

TEST_CASE("blocks that wait for later blocks get on, on one host thread too") {
  const std::string turnstile = R"(
  mov.u32 x, %ctaid.x;
  mov.u32 y, %nctaid.x;
  sub.u32 y, y, 1;
  sub.u32 y, y, x;
WAIT:
  ld.acquire.gpu.global.u32 z, [out];
  setp.ne.u32 p0, z, y;
  @p0 bra WAIT;
  mad.wide.u32 at, x, 4, out;
  st.global.u32 [at+4], y;
  add.u32 z, z, 1;
  st.release.gpu.global.u32 [out], z;)";
  for (const uint32_t threads : {1U, 2U}) {
    Options options;
    options.threads = threads;
    const Outcome outcome = run_body(turnstile, 6, 1, options);
    CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
    CHECK(outcome.out[0] == 6);
    for (uint32_t i = 0; i < 6; ++i) CHECK(outcome.out[1 + i] == 5 - i);
  }
}

TEST_CASE("bar.warp.sync in both ways of a branch joins them") {
  const Outcome outcome = run_body(R"(
  mov.u32 x, tile;
  mad.lo.u32 x, lane, 4, x;
  setp.lt.u32 p0, lane, 16;
  @p0 bra LOW;
  st.shared.u32 [x], lane;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 y, [x+-64];
  bra JOIN;
LOW:
  add.u32 z, lane, 100;
  st.shared.u32 [x], z;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 y, [x+64];
JOIN:
  mad.wide.u32 at, tid, 4, out;
  st.global.u32 [at], y;)",
                                   1, 32, {}, ".shared .align 4 .b8 tile[128];");
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK(outcome.out[i] == (i < 16 ? i + 16 : i - 16 + 100));
  }
}

TEST_CASE("half a warp waits at a warp barrier for lanes that come later") {
  const Outcome outcome = run_body(R"(
  setp.ge.u32 p0, lane, 16;
  @p0 bra LATER;
  bar.warp.sync 0xffffffff;
LATER:
  @p0 bar.warp.sync 0xffffffff;
  mad.wide.u32 at, tid, 4, out;
  st.global.u32 [at], 7;)",
                                   1, 32);
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  CHECK(outcome.out[31] == 7);
  CHECK(outcome.out[0] == 7);
}

TEST_CASE("lanes that diverge in nested loops and early exits meet again") {
  const Outcome outcome = run_body(R"(
  mov.u32 x, 0;
  mov.u32 y, 0;
OUTER:
  mov.u32 z, 0;
INNER:
  add.u32 y, y, 1;
  add.u32 z, z, 1;
  setp.lt.u32 p0, z, lane;
  @p0 bra INNER;
  setp.eq.u32 p1, lane, 5;
  @p1 exit;
  add.u32 x, x, 1;
  setp.lt.u32 p0, x, 3;
  @p0 bra OUTER;
  activemask.b32 z;
  mad.wide.u32 at, tid, 8, out;
  st.global.u32 [at], y;
  st.global.u32 [at+4], z;)",
                                   1, 32);
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK(outcome.out[2 * i] == (i == 5 ? 0 : 3 * std::max(i, 1U)));
    CHECK(outcome.out[2 * i + 1] == (i == 5 ? 0 : ~(1U << 5)));
  }
}

TEST_CASE("a deadlock says who waits where") {
  const Outcome outcome = run_body(R"(
  setp.lt.u32 p0, tid, 32;
  @p0 bra FIRST;
  bar.sync 2, 64;
  bra DONE;
FIRST:
  bar.sync 1, 64;
DONE:)",
                                   1, 64);
  REQUIRE(outcome.result.findings.size() == 1);
  const Finding& finding = outcome.result.findings[0];
  CHECK(finding.kind == FindingKind::deadlock);
  CHECK(finding.message.find("warp 0: lanes 0xffffffff wait at barrier 1") != std::string::npos);
  CHECK(finding.message.find("warp 1: lanes 0xffffffff wait at barrier 2") != std::string::npos);
}

TEST_CASE("invalid barriers are findings") {
  CHECK(has(run_body("  bar.sync 16;", 1, 64).result, FindingKind::invalid_operand));
  CHECK(has(run_body("  bar.sync 1, 33;", 1, 64).result, FindingKind::invalid_operand));
  CHECK(has(run_body("  bar.sync 1, 96;", 1, 64).result, FindingKind::invalid_operand));
  CHECK(has(run_body("  bar.sync 1, tid;", 1, 64).result, FindingKind::invalid_operand));
}

TEST_CASE("findings are the same on one and on several host threads") {
  const std::string body = R"(
  mov.u32 x, %ctaid.x;
  mad.lo.u32 x, x, 64, tid;
  mad.wide.u32 at, x, 4, out;
  st.global.u32 [at], x;
  ld.global.u32 y, [at+1];)";
  std::vector<std::string> texts;
  for (const uint32_t threads : {1U, 4U}) {
    for (const uint64_t seed : {0, 3}) {
      Options options;
      options.threads = threads;
      options.seed = seed;
      texts.push_back(describe(run_body(body, 9, 64, options).result));
    }
  }
  CHECK(texts[0].find("out_of_bounds: k ptx:") != std::string::npos);
  CHECK(texts[0].find("block (4,0,0) thread (0,0,0)") != std::string::npos);
  for (const std::string& text : texts) CHECK(text == texts[0]);
}

TEST_CASE("max_findings keeps the first and counts the rest") {
  Options options;
  options.max_findings = 1;
  const Outcome outcome = run_body(
      "  st.global.u32 [out+1], 0;\n  st.global.u32 [out+2], 0;\n  st.global.u32 [out+3], 0;", 1,
      32, options);
  CHECK(outcome.result.findings.size() == 1);
  CHECK(outcome.result.findings[0].times == 32);
  CHECK(outcome.result.findings_dropped == 2);
}

TEST_CASE("bytes written through generic addresses count as written") {
  const Outcome outcome = run_body(R"(
  cvt.u64.u32 at, tid;
  add.u64 at, at, tile;
  cvta.shared.u64 at, at;
  st.u8 [at], 3;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 x, [tile+28];
  st.global.u32 [out], x;)",
                                   1, 32, {}, ".shared .align 4 .b8 tile[32];");
  // All lanes store the same word to global memory, which is no finding.
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  CHECK(outcome.out[0] == 0x03030303);
}

TEST_CASE("a lock between lanes of different warps") {
  const Outcome outcome = run_body(R"(
  setp.ne.u32 p0, lane, 0;
  @p0 exit;
TAKE:
  atom.global.cas.b32 x, [out], 0, 1;
  setp.ne.u32 p1, x, 0;
  @p1 bra TAKE;
  ld.volatile.global.u32 y, [out+4];
  add.u32 y, y, 1;
  st.volatile.global.u32 [out+4], y;
  atom.global.exch.b32 x, [out], 0;)",
                                   3, 128);
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  CHECK(outcome.out[1] == 12);
}

}  // namespace gemmtune::ptxsim::testing
