// mbarrier: phases, states, remote arrivals, and what a wait orders.
#include <algorithm>

#include "../contains.h"
#include "fixture.h"

namespace gemmtune::ptxsim::testing {

namespace {

const char* const kShared =
    ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n.shared .align 16 .b8 tile[512];\n";

LaunchConfig blocks_of(uint32_t threads, uint32_t cluster = 1) {
  LaunchConfig launch;
  launch.block[0] = threads;
  launch.grid[0] = launch.cluster[0] = cluster;
  return launch;
}

bool has(const RunResult& result, Check check) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const Finding& finding) { return finding.check == check; });
}

// Warp 0 writes eight times what warp 1 adds up; `arrive` and `wait` may be broken.
std::string ping_pong(const std::string& arrive, const std::string& wait) {
  return R"(
  .reg .b32 sum, parity, bar_full, bar_empty, addr;
  mov.u32 bar_full, full; mov.u32 bar_empty, empty;
  setp.ne.u32 p0, tid, 0;
  @p0 bra READY;
  mbarrier.init.shared::cta.b64 [bar_full], 32;
  mbarrier.init.shared::cta.b64 [bar_empty], 32;
READY:
  bar.sync 0;
  mov.u32 addr, tile; mad.lo.u32 addr, lane, 4, addr;
  mov.u32 z, 0; mov.u32 sum, 0;
  setp.ge.u32 p0, tid, 32;
  @p0 bra CONSUMER;
PRODUCER:
  and.b32 parity, z, 1; xor.b32 parity, parity, 1;
WAIT_EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 p1, [bar_empty], parity;
  @!p1 bra WAIT_EMPTY;
  mad.lo.u32 y, z, 100, lane;
  st.shared.u32 [addr], y;
)" + arrive +
         R"(
  add.u32 z, z, 1; setp.lt.u32 p1, z, 8;
  @p1 bra PRODUCER;
  bra DONE;
CONSUMER:
  xor.b32 addr, addr, 4;
NEXT:
  and.b32 parity, z, 1;
WAIT_FULL:
)" + wait +
         R"(
  ld.shared.u32 y, [addr];
  add.u32 sum, sum, y;
  mbarrier.arrive.shared::cta.b64 _, [bar_empty];
  add.u32 z, z, 1; setp.lt.u32 p1, z, 8;
  @p1 bra NEXT;
  mad.wide.u32 at, lane, 4, out;
  st.global.u32 [at], sum;
DONE:)";
}

const char* const kArrive = "mbarrier.arrive.shared::cta.b64 _, [bar_full];";
const char* const kWait =
    "mbarrier.try_wait.parity.shared::cta.b64 p1, [bar_full], parity;\n@!p1 bra WAIT_FULL;";

}  // namespace

TEST_CASE("two warps hand a buffer to and fro") {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    Options options;
    options.seed = seed;
    const Outcome outcome = run_body(ping_pong(kArrive, kWait), blocks_of(64), options, kShared);
    CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
    for (uint32_t lane = 0; lane < 32; ++lane) CHECK(outcome.out[lane] == 2800 + 8 * (lane ^ 1));
  }
}

TEST_CASE("without an order between them, a buffer's accesses race") {
  const auto broken = [](const char* arrive, const char* wait) {
    return run_body(ping_pong(arrive, wait), blocks_of(64), {}, kShared).result;
  };
  CHECK(has(broken("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar_full];", kWait),
            Check::read_after_write));
  CHECK(has(broken(kArrive,
                   "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p1, [bar_full], parity;\n"
                   "@!p1 bra WAIT_FULL;"),
            Check::read_after_write));
  const RunResult unwaited = broken(kArrive, "");
  CHECK_MESSAGE((has(unwaited, Check::read_after_write) || has(unwaited, Check::shared_written)),
                describe(unwaited));
}

TEST_CASE("states, counts and bytes complete a phase") {
  const char* const body = R"(
  .reg .b32 bar; .reg .b64 state; .reg .pred done;
  mov.u32 bar, full;
  setp.ne.u32 p0, tid, 0;
  @p0 bra END;
  mbarrier.init.shared.b64 [bar], 3;
  mbarrier.arrive.shared::cta.b64 state, [bar], 2;
  mbarrier.test_wait.shared::cta.b64 done, [bar], state;
  selp.u32 x, 1, 0, done; st.global.u32 [out], x;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 96;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 state, [bar], 64;
  mbarrier.test_wait.shared::cta.b64 done, [bar], state;
  selp.u32 x, 1, 0, done; st.global.u32 [out+4], x;
  mbarrier.test_wait.parity.shared::cta.b64 done, [bar], 1;
  selp.u32 x, 1, 0, done; st.global.u32 [out+8], x;
  mbarrier.arrive_drop.shared::cta.b64 state, [bar];
  mbarrier.arrive.shared::cta.b64 state, [bar], 2;
  mbarrier.arrive.shared::cta.b64 state, [bar], 2;
  mbarrier.test_wait.shared::cta.b64 done, [bar], state;
  selp.u32 x, 1, 0, done; st.global.u32 [out+12], x;
  mbarrier.inval.shared::cta.b64 [bar];
  mbarrier.init.shared.b64 [bar], 1;
END:)";
  const Outcome outcome = run_body(body, blocks_of(32), {}, kShared);
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  CHECK(outcome.out[0] == 0);
  CHECK(outcome.out[1] == 1);
  CHECK(outcome.out[2] == 0);
  CHECK(outcome.out[3] == 1);
}

TEST_CASE("blocks of a cluster arrive at one another's barriers") {
  const char* const body = R"(
  .reg .b32 bar, rank, other, parity;
  mov.u32 bar, full;
  mov.u32 rank, %cluster_ctarank;
  setp.ne.u32 p0, tid, 0;
  @!p0 mbarrier.init.shared::cta.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  xor.b32 x, rank, 1;
  mov.u32 y, tile;
  mapa.shared::cluster.u32 other, y, x;
  add.u32 z, rank, 7;
  @!p0 st.shared::cluster.u32 [other], z;
  mapa.shared::cluster.u32 other, bar, x;
  @!p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [other];
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p1, [bar], 0;
  @!p1 bra WAIT;
  ld.shared.u32 z, [tile];
  mad.wide.u32 at, rank, 4, out;
  @!p0 st.global.u32 [at], z;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;)";
  for (const uint64_t seed : {0, 1, 2, 3}) {
    Options options;
    options.seed = seed;
    const Outcome outcome = run_body(body, blocks_of(64, 2), options, kShared);
    CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
    CHECK(outcome.out[0] == 8);
    CHECK(outcome.out[1] == 7);
  }
}

TEST_CASE("after a fence of mbarriers, a relaxed arrival at the cluster's barrier shows them") {
  const auto findings = [](const std::string& fence) {
    const std::string body = R"(
  .reg .b32 bar;
  mov.u32 bar, full;
  setp.ne.u32 p0, tid, 0;
  @!p0 mbarrier.init.shared::cta.b64 [bar], 64;
  )" + fence + R"(
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.aligned;
  mbarrier.arrive.shared::cta.b64 _, [bar];)";
    return run_body(body.c_str(), blocks_of(64, 2), {}, kShared).result;
  };
  const RunResult fenced = findings("fence.mbarrier_init.release.cluster;");
  CHECK_MESSAGE(fenced.findings.empty(), describe(fenced));
  const RunResult bare = findings("");
  REQUIRE(!bare.findings.empty());
  CHECK(bare.findings[0].check == Check::mbarrier_init);
}

TEST_CASE("a wait that nothing ends is a deadlock that names the barrier and what it lacks") {
  const char* const body = R"(
  .reg .b32 bar;
  mov.u32 bar, empty;
  setp.ne.u32 p0, tid, 0;
  @p0 bra END;
  mbarrier.init.shared::cta.b64 [bar], 2;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 48;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 p1, [bar], 0;
  @!p1 bra WAIT;
END:)";
  const RunResult result = run_body(body, blocks_of(64), {}, kShared).result;
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].check == Check::progress);
  const std::string& message = result.findings[0].message;
  CHECK_MESSAGE(contains(message, "for parity 0: phase 0 lacks 1 of 2 arrivals and 48 bytes"),
                message);
}

TEST_CASE("a try_wait that only looks may fail, and others go on") {
  // Warp 0 looks once before it does what warp 1 waits for.
  const char* const body = R"(
  .reg .b32 bar, other;
  mov.u32 bar, full; mov.u32 other, empty;
  setp.ne.u32 p0, tid, 0;
  @!p0 mbarrier.init.shared::cta.b64 [bar], 32;
  @!p0 mbarrier.init.shared::cta.b64 [other], 32;
  bar.sync 0;
  setp.ge.u32 p0, tid, 32;
  @p0 bra SECOND;
  mbarrier.try_wait.parity.shared::cta.b64 p1, [other], 0;
  selp.u32 x, 2, 1, p1;
  mbarrier.arrive.shared::cta.b64 _, [bar];
WAIT:
  @p1 bra SEEN;
  mbarrier.try_wait.parity.shared::cta.b64 p1, [other], 0;
  bra WAIT;
SEEN:
  mad.wide.u32 at, lane, 4, out;
  st.global.u32 [at], x;
  bra END;
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 p1, [bar], 0;
  @!p1 bra SECOND;
  mbarrier.arrive.shared::cta.b64 _, [other];
END:)";
  const Outcome outcome = run_body(body, blocks_of(64), {}, kShared);
  CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
  CHECK(outcome.out[5] == 1);
}

TEST_CASE("a phase that expects fewer bytes than its copies have is found") {
  const char* const body = R"(
  .reg .b32 bar, to;
  mov.u32 bar, full; mov.u32 to, tile;
  setp.ne.u32 p0, tid, 0;
  @p0 bra END;
  mbarrier.init.shared::cta.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [out], 64, [bar];
  add.u32 to, to, 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [out], 64, [bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 p1, [bar], 0;
  @!p1 bra WAIT;
  ld.shared.u32 x, [to];
END:)";
  Options options;
  const RunResult late = run_body(body, blocks_of(32), options, kShared).result;
  CHECK_MESSAGE(has(late, Check::mbarrier_count), describe(late));
  options.async = AsyncMode::early;
  const RunResult early = run_body(body, blocks_of(32), options, kShared).result;
  CHECK_MESSAGE(has(early, Check::read_of_pending), describe(early));
}

TEST_CASE("what an mbarrier must not be used for is found") {
  struct Misuse {
    Check check;
    const char* body;
  };
  const Misuse misuses[] = {
      {Check::mbarrier_init, "@!p0 mbarrier.arrive.shared::cta.b64 _, [full];"},
      {Check::mbarrier_init,
       "@!p0 mbarrier.init.shared::cta.b64 [full], 1;\n"
       "@!p0 mbarrier.init.shared::cta.b64 [full], 1;"},
      {Check::mbarrier_init,
       "@!p0 mbarrier.init.shared::cta.b64 [full], 2;\n"
       "setp.ne.u32 p0, tid, 32; @!p0 mbarrier.arrive.shared::cta.b64 _, [full];"},
      {Check::mbarrier_count, "@!p0 mbarrier.init.shared::cta.b64 [full], 0;"},
      {Check::mbarrier_count, "@!p0 mbarrier.init.shared::cta.b64 [full], 1048576;"},
      {Check::mbarrier_count,
       "@!p0 mbarrier.init.shared::cta.b64 [full], 1;\n"
       "@!p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;\n"
       "@!p0 mbarrier.arrive.shared::cta.b64 _, [full];"},
      {Check::mbarrier_count,
       "@!p0 mbarrier.init.shared::cta.b64 [full], 1;\n"
       "@!p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 1048576;"},
      {Check::shared_alignment, "@!p0 mbarrier.init.shared::cta.b64 [tile+4], 1;"},
      {Check::shared_bounds, "@!p0 mbarrier.init.shared::cta.b64 [tile+4096], 1;"},
  };
  for (const Misuse& misuse : misuses) {
    CAPTURE(misuse.body);
    const RunResult result =
        run_body(std::string("setp.ne.u32 p0, tid, 0;\n") + misuse.body, blocks_of(64), {}, kShared)
            .result;
    CHECK_MESSAGE(has(result, misuse.check), describe(result));
  }
}

}  // namespace gemmtune::ptxsim::testing
