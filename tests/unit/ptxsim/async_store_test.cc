// st.async: what arrives at another block of the cluster, and what goes wrong with it.
#include <fmt/format.h>

#include <algorithm>

#include "fixture.h"

namespace gemmtune::ptxsim::testing {

namespace {

const char* const kShared = ".shared .align 8 .b64 full;\n.shared .align 16 .b8 tile[1024];\n";

LaunchConfig pair_of_blocks() {
  LaunchConfig launch;
  launch.block[0] = 32;
  launch.grid[0] = launch.cluster[0] = 2;
  return launch;
}

bool has(const RunResult& result, Check check) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const Finding& finding) { return finding.check == check; });
}

// The parts of an exchange that may be broken.
struct Exchange {
  int bytes = 512;  // that a block expects
  std::string meet = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
  std::string store =
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [other], {x, y, z, v}, "
      "[bar_there];\n";
  std::string wait =
      "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p1, [bar], 0;\n"
      "@!p1 bra WAIT;\n";
  std::string end;
};

// Each lane of two blocks stores 100 * rank + lane + 0 .. 3 in the other block's tile, and writes
// what it got in its own to `out`.
Outcome run(const Exchange& exchange, AsyncMode mode, uint64_t seed = 0) {
  const std::string body = fmt::format(
                               R"(
  .reg .b32 bar, bar_there, rank, other, v, own;
  mov.u32 bar, full;
  mov.u32 rank, %cluster_ctarank;
  setp.ne.u32 p0, tid, 0;
  @p0 bra BEGUN;
  mbarrier.init.shared::cta.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {0};
BEGUN:
  bar.warp.sync 0xffffffff;
  mov.u32 own, tile; mad.lo.u32 own, tid, 16, own;
  xor.b32 v, rank, 1;
  mapa.shared::cluster.u32 other, own, v;
  mapa.shared::cluster.u32 bar_there, bar, v;
  mad.lo.u32 x, rank, 100, tid;
  add.u32 y, x, 1; add.u32 z, x, 2; add.u32 v, x, 3;
)",
                               exchange.bytes) +
                           exchange.meet + exchange.store + exchange.wait + R"(
  ld.shared.u32 x, [own]; ld.shared.u32 y, [own+12];
  mad.lo.u32 z, rank, 32, tid;
  mad.wide.u32 at, z, 8, out;
  st.global.u32 [at], x; st.global.u32 [at+4], y;
)" + exchange.end;
  Options options;
  options.async = mode;
  options.seed = seed;
  return run_body(body.c_str(), pair_of_blocks(), options, kShared);
}

constexpr AsyncMode kModes[] = {AsyncMode::early, AsyncMode::late};

}  // namespace

TEST_CASE("blocks of a cluster store into one another's shared memory") {
  for (const AsyncMode mode : kModes) {
    for (const uint64_t seed : {0, 1, 2, 3}) {
      const Outcome outcome = run({}, mode, seed);
      CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
      for (uint32_t i = 0; i < 64; ++i) {
        const uint32_t from = 1 - i / 32;
        CHECK(outcome.out[2 * i] == 100 * from + i % 32);
        CHECK(outcome.out[2 * i + 1] == 100 * from + i % 32 + 3);
      }
    }
  }
}

TEST_CASE("all widths of st.async arrive") {
  const char* const kAt = "st.async.shared::cluster.mbarrier::complete_tx::bytes";
  const std::string stores[] = {
      fmt::format("{0}.u32 [other], x, [bar_there]; {0}.weak.s32 [other+4], y, [bar_there]; "
                  "{0}.f32 [other+8], z, [bar_there]; {0}.b32 [other+12], v, [bar_there];\n",
                  kAt),
      fmt::format("{0}.v2.b32 [other], {{x, y}}, [bar_there]; {0}.v2.u32 [other+8], {{z, v}}, "
                  "[bar_there];\n",
                  kAt),
      fmt::format(".reg .b64 low, high; mov.b64 low, {{x, y}}; mov.b64 high, {{z, v}};\n"
                  "{0}.b64 [other], low, [bar_there]; {0}.u64 [other+8], high, [bar_there];\n",
                  kAt),
      fmt::format(".reg .b64 low, high; mov.b64 low, {{x, y}}; mov.b64 high, {{z, v}};\n"
                  "{0}.v2.b64 [other], {{low, high}}, [bar_there];\n",
                  kAt)};
  for (const std::string& store : stores) {
    CAPTURE(store);
    for (const AsyncMode mode : kModes) {
      Exchange exchange;
      exchange.store = store;
      const Outcome outcome = run(exchange, mode);
      CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
      CHECK(outcome.out[0] == 100);
      CHECK(outcome.out[1] == 103);
    }
  }
}

TEST_CASE("what is read before it has been waited for is found") {
  Exchange exchange;
  exchange.wait = "";
  for (const AsyncMode mode : kModes) {
    const RunResult result = run(exchange, mode).result;
    CHECK_MESSAGE((has(result, Check::read_of_pending) || has(result, Check::shared_written)),
                  describe(result));
  }
}

TEST_CASE("stores into a block that may not have begun are found") {
  Exchange exchange;
  exchange.meet = "";
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const RunResult result = run(exchange, AsyncMode::early, seed).result;
    CHECK_MESSAGE(has(result, Check::mbarrier_init), describe(result));
  }
}

TEST_CASE("bytes that are not those expected are found") {
  Exchange fewer;
  fewer.bytes = 256;
  const RunResult late = run(fewer, AsyncMode::late).result;
  CHECK_MESSAGE(!late.findings.empty(), describe(late));
  Exchange more;
  more.bytes = 528;
  const RunResult never = run(more, AsyncMode::early).result;
  CHECK_MESSAGE(has(never, Check::progress), describe(never));
}

TEST_CASE("two stores of the same bytes in one phase are found") {
  Exchange twice;
  twice.bytes = 1024;
  twice.store += twice.store;
  const RunResult result = run(twice, AsyncMode::early).result;
  CHECK_MESSAGE(has(result, Check::write_of_pending), describe(result));
}

TEST_CASE("a barrier that is not the destination's is refused") {
  Exchange exchange;
  exchange.store = "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [other], x, [bar];\n";
  const RunResult result = run(exchange, AsyncMode::early).result;
  CHECK_MESSAGE(has(result, Check::mbarrier_init), describe(result));
}

TEST_CASE("an address that the vector does not divide is refused") {
  Exchange exchange;
  exchange.store =
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [other+4], {x, y, z, v}, "
      "[bar_there];\n";
  const RunResult result = run(exchange, AsyncMode::early).result;
  CHECK_MESSAGE(has(result, Check::shared_alignment), describe(result));
}

}  // namespace gemmtune::ptxsim::testing
