// What the planted faults of tests/sim/faults leave open of each check: its edges, the instructions
// it applies to, and what it must let pass.
#include <algorithm>
#include <array>
#include <optional>

#include "fixture.h"
#include "ptxsim/report/findings_log.h"

namespace gemmtune::ptxsim::testing {

namespace {

struct Case {
  const char* name;
  std::optional<Check> check;  // none: the kernel is correct
  const char* body;
  uint32_t threads = 32;
  uint32_t blocks = 1;
  uint32_t cluster = 1;
};

constexpr const char* kDeclarations = ".shared .align 16 .b8 tile[512];";
constexpr const char* kMatrix = R"(
  .reg .b32 a<4>, b<2>, c<8>, d<8>;
  .reg .f32 r;
  mov.u32 x, tile;)";

constexpr Case kBounds[] = {
    {"global, across the end", Check::global_bounds, "  ld.global.u64 at, [out+1020];"},
    {"global, up to the end", std::nullopt, "  ld.global.u64 at, [out+1016];"},
    {"shared, far behind", Check::shared_bounds, "  st.shared.u32 [tile+8192], 1;"},
    {"shared, across the end", Check::shared_bounds, "  st.shared.u64 [tile+508], 1;"},
    {"shared, of a block the cluster has not", Check::shared_bounds, R"(
  mov.u32 x, tile;
  mapa.shared::cluster.u32 x, x, 2;
  st.shared::cluster.u32 [x], 1;)",
     32, 2, 2},
    {"local, far behind", Check::local_bounds,
     "  .local .align 8 .b8 stack[16];\n  mov.u64 at, stack;\n  st.local.u32 [at+8192], 1;"},
    {"local, across the end", Check::local_bounds,
     "  .local .align 8 .b8 stack[16];\n  mov.u64 at, stack;\n  st.local.u64 [at+12], 1;"},
    {"parameters, far behind", Check::parameter_bounds,
     "  mov.u64 at, p;\n  cvta.param.u64 at, at;\n  ld.u32 x, [at+4096];"},
    {"parameters, across the end", Check::parameter_bounds,
     "  mov.u64 at, p;\n  cvta.param.u64 at, at;\n  ld.u64 at, [at+4];"},
    {"cp.async, aligned to what it reads but not to what it writes", Check::global_alignment,
     "  mov.u32 x, tile;\n  cp.async.ca.shared.global [x], [out+4], 16, 4;"},
};

constexpr Case kRaces[] = {
    {"an atomic reads what nobody wrote", Check::shared_written,
     "  atom.shared.add.u32 x, [tile], 1;"},
    {"the second word of a wide read was never written", Check::shared_written,
     "  setp.eq.u32 p0, lane, 0;\n  @p0 st.shared.u32 [tile], 1;\n  @p0 ld.shared.u64 at, [tile];"},
    {"what an earlier block wrote is not there", Check::shared_written, R"(
  mov.u32 x, %ctaid.x;
  setp.eq.u32 p0, x, 0;
  @p0 st.shared.u32 [tile+4], 1;
  @!p0 ld.shared.u32 y, [tile+4];)",
     1, 2},
    {"a volatile read beside a plain write", Check::read_after_write,
     "  setp.eq.u32 p0, lane, 0;\n  @p0 st.shared.u32 [tile], 1;\n  @!p0 ld.volatile.shared.u32 x, "
     "[tile];"},
    {"a plain read beside a volatile write", Check::read_after_write,
     "  setp.eq.u32 p0, lane, 0;\n  @p0 st.volatile.shared.u32 [tile], 1;\n  @!p0 ld.shared.u32 x, "
     "[tile];"},
    {"volatile on both sides", std::nullopt,
     "  setp.eq.u32 p0, lane, 0;\n  @p0 st.volatile.shared.u32 [tile], 1;\n  @!p0 "
     "ld.volatile.shared.u32 x, [tile];"},
    {"one of several lanes that read writes", Check::write_after_read, R"(
  setp.eq.u32 p0, lane, 31;
  @p0 st.shared.u32 [tile], 1;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 x, [tile];
  @p0 st.shared.u32 [tile], 2;)"},
    {"two warps write", Check::write_after_write,
     "  mov.u32 x, tile;\n  mad.lo.u32 x, lane, 4, x;\n  st.shared.u32 [x], 1;", 64},
    {"a copy that only its thread has waited for, after a barrier", Check::read_after_write, R"(
  mov.u32 x, tile;
  mad.lo.u32 x, tid, 4, x;
  bar.sync 0;
  cp.async.ca.shared.global [x], [out], 4;
  cp.async.wait_all;
  xor.b32 x, x, 128;
  ld.shared.u32 y, [x];)",
     64},
    {"arriving at a barrier is not waiting at it", Check::read_after_write, R"(
  shr.u32 x, tid, 5;
  setp.eq.u32 p0, x, 2;
  @p0 bra LAST;
  setp.eq.u32 p0, x, 0;
  @p0 st.volatile.shared.u32 [tile], 1;
  bar.arrive 1, 96;
  @!p0 ld.shared.u32 y, [tile];
  bra DONE;
LAST:
  bar.sync 1, 96;
DONE:)",
     96},
    {"a relaxed barrier of the cluster orders nothing", Check::read_after_write, R"(
  mov.u32 x, %cluster_ctarank;
  setp.eq.u32 p0, x, 0;
  @p0 st.shared.u32 [tile], 1;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.aligned;
  mov.u32 y, tile;
  mapa.shared::cluster.u32 y, y, 0;
  @!p0 ld.shared::cluster.u32 z, [y];
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;)",
     1, 2, 2},
};

constexpr Case kBarriers[] = {
    {"number beyond 15", Check::barrier_range, "  bar.sync 16;", 64},
    {"a count that is no multiple of a warp", Check::barrier_range, "  bar.sync 1, 33;", 64},
    {"a count beyond the block", Check::barrier_range, "  bar.sync 1, 96;", 64},
    {"a count of nobody", Check::barrier_range, "  bar.sync 1, 0;", 64},
    {"numbers differ in a warp", Check::uniform_barrier, "  bar.sync lane;", 64},
    {"counts differ in a warp", Check::uniform_barrier,
     "  and.b32 x, lane, 1;\n  mad.lo.u32 x, x, 32, 32;\n  bar.sync 1, x;", 64},
    {"half a warp arrives at the cluster's barrier", Check::warp_at_cluster_barrier,
     "  setp.lt.u32 p0, lane, 16;\n  @p0 barrier.cluster.arrive.aligned;", 32, 2, 2},
    {"half a warp waits at the cluster's barrier", Check::warp_at_cluster_barrier,
     "  setp.lt.u32 p0, lane, 16;\n  barrier.cluster.arrive;\n  @p0 barrier.cluster.wait.aligned;",
     32, 2, 2},
};

// Half a warp at each matrix instruction.
constexpr Case kMatrixLanes[] = {
    {"ldmatrix", Check::matrix_lanes, "  @p0 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a0}, [x];"},
    {"stmatrix", Check::matrix_lanes,
     "  @p0 stmatrix.sync.aligned.m8n8.x1.shared.b16 [x], {lane};"},
    {"movmatrix", Check::matrix_lanes, "  @p0 movmatrix.sync.aligned.m8n8.trans.b16 a0, lane;"},
    {"mma", Check::matrix_lanes,
     "  @p0 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {d0,d1,d2,d3}, {lane,lane}, {lane}, "
     "{lane,lane,lane,lane};"},
    {"wmma.load", Check::matrix_lanes,
     "  @p0 wmma.load.c.sync.aligned.row.m16n16k16.f32 {d0,d1,d2,d3,d4,d5,d6,d7}, [out];"},
    {"wmma.store", Check::matrix_lanes,
     "  @p0 wmma.store.d.sync.aligned.row.m16n16k16.f32 [out], "
     "{lane,lane,lane,lane,lane,lane,lane,lane};"},
    {"wmma.mma", Check::matrix_lanes,
     "  @p0 wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {d0,d1,d2,d3,d4,d5,d6,d7}, "
     "{lane,lane,lane,lane,lane,lane,lane,lane}, {lane,lane,lane,lane,lane,lane,lane,lane}, "
     "{lane,lane,lane,lane,lane,lane,lane,lane};"},
};

// c0, y and p1 are never written; no result is used.
constexpr Case kUndefined[] = {
    {"a store's value", Check::operand_written, "  st.global.u32 [out], y;"},
    {"a load's address", Check::operand_written, "  ld.shared.u32 z, [y];"},
    {"a select's predicate", Check::operand_written,
     "  selp.b32 z, 1, 2, p1;\n  st.global.u32 [out], z;"},
    {"an atomic's operand", Check::operand_written, "  red.global.add.u32 [out], y;"},
    {"ldmatrix's address", Check::operand_written,
     "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a0}, [y];"},
    {"stmatrix's element", Check::operand_written,
     "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [x], {y};"},
    {"mma's accumulator", Check::operand_written,
     "  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {d0,d1,d2,d3}, {lane,lane}, {lane}, "
     "{lane,lane,lane,c0};"},
    {"cp.async's source", Check::operand_written,
     "  .reg .b64 from;\n  cp.async.ca.shared.global [x], [from], 4;"},
    {"wmma.store's element", Check::operand_written,
     "  wmma.store.d.sync.aligned.row.m16n16k16.f32 [out], "
     "{lane,lane,lane,lane,lane,lane,lane,c0};"},
    {"wmma.mma's accumulator", Check::operand_written,
     "  wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {d0,d1,d2,d3,d4,d5,d6,d7}, "
     "{lane,lane,lane,lane,lane,lane,lane,lane}, {lane,lane,lane,lane,lane,lane,lane,lane}, "
     "{lane,lane,lane,lane,lane,lane,lane,c0};"},
    {"a value that is used for nothing", std::nullopt, "  add.u32 z, y, 1;"},
    {"one half of a register, where the other is defined", Check::operand_written,
     "  .reg .b64 w;\n  mov.b64 w, {lane, y};\n  mov.b64 {x, z}, w;\n  st.global.u32 [out], z;"},
    {"a register of which one half is undefined", Check::operand_written,
     "  .reg .b64 w;\n  mov.b64 w, {y, lane};\n  st.global.u64 [out], w;"},
    {"a sum with an undefined half", Check::operand_written,
     "  .reg .b64 w;\n  mov.b64 w, {lane, y};\n  add.u64 w, w, 1;\n  mov.b64 {x, z}, w;\n"
     "  st.global.u32 [out], x;"},
    {"a half that a choice leaves undefined", Check::operand_written,
     "  .reg .b64 w, v;\n  mov.b64 w, {y, lane};\n  mov.b64 v, 0;\n  setp.lt.u32 p0, lane, 32;\n"
     "  selp.b64 v, w, v, p0;\n  mov.b64 {x, z}, v;\n  st.global.u32 [out], x;"},
    {"a half of a half", Check::operand_written,
     "  .reg .b16 h, l;\n  mov.b32 x, {h, h};\n  mov.b32 {l, h}, x;\n  st.global.u16 [out], l;"},
    {"the low half, which is defined", std::nullopt,
     "  .reg .b64 w;\n  mov.b64 w, {lane, y};\n  mov.b64 {x, z}, w;\n  st.global.u32 [out], x;"},
    {"the high half, moved and chosen", std::nullopt,
     "  .reg .b64 w, v;\n  mov.b64 w, {y, 7};\n  mov.b64 v, w;\n  setp.lt.u32 p0, lane, 32;\n"
     "  selp.b64 v, v, w, p0;\n  mov.b64 {_, z}, v;\n  st.global.u32 [out], z;"},
    {"a low half that is stored from the whole", std::nullopt,
     "  .reg .b64 w;\n  mov.b64 w, {lane, y};\n  st.global.u32 [out], w;"},
    {"a low half by conversion", std::nullopt,
     "  .reg .b64 w;\n  mov.b64 w, {lane, y};\n  cvt.u32.u64 z, w;\n  st.global.u32 [out], z;"},
    {"three words of four", std::nullopt,
     "  .reg .b64 w, v;\n  .reg .b128 q;\n  mov.b64 w, {lane, y};\n  mov.b128 q, {w, 5};\n"
     "  mov.b128 {w, v}, q;\n  mov.b64 {x, z}, w;\n  st.global.u64 [out], v;\n"
     "  st.global.u32 [out], x;"},
    {"a choice that is not taken", std::nullopt,
     "  setp.lt.u32 p0, lane, 32;\n  selp.b32 z, lane, y, p0;\n  st.global.u32 [out], z;"},
};

template <size_t N>
void run_all(const Case (&cases)[N], const std::string& before = "") {
  for (const Case& test : cases) {
    CAPTURE(test.name);
    LaunchConfig launch;
    launch.block[0] = test.threads;
    launch.grid[0] = test.blocks;
    launch.cluster[0] = test.cluster;
    Options options;
    options.threads = 1;
    const RunResult result = run_body(before + test.body, launch, options, kDeclarations).result;
    if (!test.check) {
      CHECK_MESSAGE(result.findings.empty(), describe(result));
      continue;
    }
    const bool found =
        std::any_of(result.findings.begin(), result.findings.end(),
                    [&](const Finding& finding) { return finding.check == *test.check; });
    CHECK_MESSAGE(found, describe(result));
  }
}

}  // namespace

TEST_CASE("bounds and alignment, at their edges") {
  run_all(kBounds);
}

TEST_CASE("shared memory: what is a race and what is not") {
  run_all(kRaces);
}

TEST_CASE("barriers: their operands, and who must be there") {
  run_all(kBarriers);
}

TEST_CASE("every matrix instruction needs the whole warp") {
  run_all(kMatrixLanes, std::string(kMatrix) + "\n  setp.lt.u32 p0, lane, 16;\n");
}

TEST_CASE("registers that were never written are found where they have an effect") {
  run_all(kUndefined, kMatrix);
}

TEST_CASE("a read of which only the last bytes were never written") {
  GlobalMemory memory;
  const Buffer<uint32_t> half(memory, 2, "half");
  const uint32_t word = 1;
  REQUIRE(memory.write(half.address(), std::as_bytes(std::span(&word, 1))));
  const RunResult result = run_ok(module_with("  ld.global.u64 at, [out];"), "k", {},
                                  {argument(half.address())}, memory);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].check == Check::global_written);
}

TEST_CASE(
    "an early copy takes what is there when it starts, a late one what is there at the wait") {
  for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
    Options options;
    options.async = mode;
    const Outcome outcome = run_body(R"(
  mov.u32 x, tile;
  cp.async.ca.shared.global [x], [out], 4;
  st.global.u32 [out], 7;
  cp.async.wait_all;
  ld.shared.u32 y, [x];
  st.global.u32 [out+4], y;)",
                                     {}, options, kDeclarations);
    CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
    CHECK(outcome.out[1] == (mode == AsyncMode::early ? 0 : 7));
  }
}

TEST_CASE("logs of several host threads become one: the first block in order, all times") {
  const auto log_of = [](uint64_t block, int times) {
    FindingsLog log;
    for (int i = 0; i < times; ++i) {
      if (!log.wants(Check::trap, 3, block)) continue;
      Finding finding;
      finding.check = Check::trap;
      finding.block_index = block;
      log.add(3, finding);
    }
    return log;
  };
  for (const auto& [first, second] : {std::pair{5, 2}, std::pair{2, 5}}) {
    FindingsLog log = log_of(static_cast<uint64_t>(first), 1);
    log.merge(log_of(static_cast<uint64_t>(second), 2));
    const auto findings = log.take();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].block_index == 2);
    CHECK(findings[0].times == 3);
  }
}

}  // namespace gemmtune::ptxsim::testing
