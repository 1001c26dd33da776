// Shuffles, votes, barriers and control flow. Each thread reads one 32-bit word into a (and b, the
// next thread's), and writes d.
#include <fmt/format.h>

#include "cases.h"

namespace gemmtune::ptxsim::hardware {

namespace {

Case word_case(const std::string& name, const std::string& body, uint32_t threads = 64,
               uint32_t arch = 80, const std::string& declarations = "") {
  Case test;
  test.name = name;
  test.arch = arch;
  test.block = threads;
  test.input = random_bytes(name, size_t{threads} * 4 + 4);
  test.output_bytes = size_t{threads} * 4;
  const std::string text = fmt::format(R"(  .reg .pred p, q, r;
  .reg .b32 a, b, d, e, f, lane;
  .reg .b64 at, g;
  mad.wide.u32 at, tid, 4, in;
  ld.global.b32 a, [at];
  ld.global.b32 b, [at+4];
  and.b32 lane, tid, 31;
  setp.lt.s32 p, a, 0;
  mov.b32 d, 0;
{}
  mad.wide.u32 at, tid, 4, out;
  st.global.b32 [at], d;)",
                                       body);
  test.ptx = module_around(text, arch, declarations);
  return test;
}

void add_shuffles(std::vector<Case>& out) {
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    for (const char* clamp : {"0", "31", "0x181f", "0x1800"}) {
      out.push_back(
          word_case(fmt::format("shfl.{}.{}", mode, clamp),
                    fmt::format("  shfl.sync.{}.b32 d|q, a, 5, {}, -1;\n  selp.b32 e, 1, 0, q;\n"
                                "  add.u32 d, d, e;",
                                mode, clamp)));
    }
  }
  out.push_back(word_case("shfl.idx.register",
                          "  and.b32 e, b, 31;\n  shfl.sync.idx.b32 d, a, e, 31, 0xffffffff;"));
}

void add_votes(std::vector<Case>& out) {
  for (const char* mode : {"all", "any", "uni"}) {
    out.push_back(
        word_case(fmt::format("vote.{}", mode),
                  fmt::format("  vote.sync.{0}.pred q, p, -1;\n  vote.sync.{0}.pred r, !p, -1;\n"
                              "  selp.b32 d, 1, 0, q;\n  selp.b32 e, 2, 0, r;\n  or.b32 d, d, e;",
                              mode)));
  }
  out.push_back(word_case("vote.ballot", "  vote.sync.ballot.b32 d, p, -1;"));
  out.push_back(word_case("match.any", "  and.b32 a, a, 3;\n  match.any.sync.b32 d, a, -1;"));
  out.push_back(word_case("match.all",
                          "  shr.u32 e, tid, 5;\n  match.all.sync.b32 d|q, e, -1;\n"
                          "  selp.b32 e, 1, 0, q;\n  xor.b32 d, d, e;"));
  out.push_back(word_case("match.any.b64",
                          "  and.b32 a, a, 1;\n  cvt.u64.u32 g, a;\n"
                          "  match.any.sync.b64 d, g, -1;"));
  for (const char* op : {"add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "add.s32"}) {
    out.push_back(
        word_case(fmt::format("redux.{}", op), fmt::format("  redux.sync.{} d, a, -1;", op)));
  }
  for (const char* op : {"and", "or", "xor"}) {
    out.push_back(
        word_case(fmt::format("redux.{}", op), fmt::format("  redux.sync.{}.b32 d, a, -1;", op)));
  }
  out.push_back(word_case("activemask", "  activemask.b32 d;"));
  out.push_back(word_case("elect", "  elect.sync d|q, -1;\n  @q add.u32 d, d, 100;", 64, 90));
}

void add_barriers(std::vector<Case>& out) {
  const std::string shared = ".shared .align 4 .b8 tile[512];";
  const std::string exchange = R"(  mov.u32 e, tile;
  mad.lo.u32 e, tid, 4, e;
  st.shared.b32 [e], a;
  {}
  xor.b32 f, tid, 33;
  mov.u32 e, tile;
  mad.lo.u32 e, f, 4, e;
  ld.shared.b32 d, [e];)";
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 1;", "barrier.sync.aligned 2, 64;",
                              "bar.sync 15, 64;", "barrier.cta.sync.aligned 0;"}) {
    std::string name = "exchange.";
    for (const char* c = barrier; *c != ';'; ++c) name += *c == ' ' || *c == ',' ? '_' : *c;
    out.push_back(word_case(name, fmt::format(fmt::runtime(exchange), barrier), 64, 80, shared));
  }
  out.push_back(word_case("bar.red.popc", "  bar.red.popc.u32 d, 0, p;"));
  out.push_back(word_case("bar.red.and", "  bar.red.and.pred q, 0, p;\n  selp.b32 d, 1, 2, q;"));
  out.push_back(word_case("bar.red.or", "  bar.red.or.pred q, 0, !p;\n  selp.b32 d, 1, 2, q;"));
  out.push_back(word_case("bar.warp.sync", R"(  mov.u32 e, tile;
  mad.lo.u32 e, tid, 4, e;
  st.shared.b32 [e], a;
  bar.warp.sync 0xffffffff;
  xor.b32 f, tid, 1;
  mov.u32 e, tile;
  mad.lo.u32 e, f, 4, e;
  membar.cta;
  fence.acq_rel.gpu;
  ld.shared.b32 d, [e];)",
                          64, 80, shared));
  out.push_back(word_case("barrier.cluster", R"(  mov.u32 e, tile;
  mad.lo.u32 e, tid, 4, e;
  st.shared.b32 [e], a;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  xor.b32 f, tid, 63;
  mov.u32 e, tile;
  mad.lo.u32 e, f, 4, e;
  mapa.shared::cluster.u32 e, e, 0;
  ld.shared::cluster.b32 d, [e];
  getctarank.shared::cluster.u32 f, e;
  add.u32 d, d, f;)",
                          64, 90, shared));
  out.push_back(word_case("bar.arrive", R"(  setp.ge.u32 q, tid, 32;
  mov.u32 e, tile;
  mad.lo.u32 e, lane, 4, e;
  @q bra CONSUME;
  st.shared.b32 [e], a;
  bar.arrive 3, 64;
  bra DONE;
CONSUME:
  bar.sync 3, 64;
  ld.shared.b32 d, [e];
DONE:)",
                          64, 80, shared));
}

void add_control(std::vector<Case>& out) {
  out.push_back(word_case("bra.loop", R"(  and.b32 e, a, 63;
LOOP:
  add.u32 d, d, e;
  setp.eq.u32 q, e, 0;
  @q bra OUT;
  sub.u32 e, e, 1;
  @!q bra.uni LOOP;
OUT:)"));
  out.push_back(word_case("brx.idx", R"(  and.b32 e, a, 3;
TABLE: .branchtargets CASE0, CASE1, CASE2, CASE1;
  brx.idx e, TABLE;
CASE0:
  add.u32 d, b, 1;
  bra OUT;
CASE1:
  add.u32 d, b, 2;
CASE2:
  mul.lo.u32 d, d, 3;
OUT:)"));
  out.push_back(word_case("call", R"({
  .param .b32 given;
  .param .b32 returned;
  st.param.b32 [given+0], a;
  call.uni (returned), twice, (given);
  ld.param.b32 d, [returned+0];
})",
                          64, 80, R"(.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 x;
  .reg .pred s;
  ld.param.b32 x, [value];
  setp.gt.s32 s, x, 0;
  add.u32 x, x, x;
  @s bra POSITIVE;
  st.param.b32 [result+0], x;
  ret;
POSITIVE:
  not.b32 x, x;
  st.param.b32 [result+0], x;
  ret;
})"));
  out.push_back(word_case("exit.some", R"(  mad.wide.u32 at, tid, 4, out;
  @p exit;
  mov.b32 d, b;)"));
  out.push_back(word_case("special.registers", R"(  mov.u32 d, %laneid;
  mov.u32 e, %warpid;
  mad.lo.u32 d, e, 100, d;
  mov.u32 e, %ntid.x;
  add.u32 d, d, e;
  mov.u32 e, %lanemask_lt;
  xor.b32 d, d, e;
  mov.u32 e, %lanemask_ge;
  mov.u32 f, %lanemask_eq;
  and.b32 e, e, f;
  xor.b32 d, d, e;
  mov.u32 e, %lanemask_le;
  mov.u32 f, %lanemask_gt;
  sub.u32 e, e, f;
  add.u32 d, d, e;
  mov.u32 e, %ctaid.x;
  mov.u32 f, %nctaid.z;
  mad.lo.u32 d, e, f, d;
  nanosleep.u32 1;)"));
  out.back().undetermined = "e, %warpid";  // a slot of the multiprocessor
  out.push_back(word_case("trap.never",
                          "  setp.ne.u32 q, tid, tid;\n  @q trap;\n  @q brkpt;\n"
                          "  mov.b32 d, a;"));
}

}  // namespace

std::vector<Case> warp_cases() {
  std::vector<Case> out;
  add_shuffles(out);
  add_votes(out);
  add_barriers(out);
  add_control(out);
  return out;
}

}  // namespace gemmtune::ptxsim::hardware
