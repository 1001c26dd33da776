// Loads, stores, atomics, asynchronous copies and address arithmetic.
#include <fmt/format.h>

#include "cases.h"

namespace gemmtune::ptxsim::hardware {

namespace {

constexpr uint32_t kBlock = 64;  // threads

// A body that fills 16 bytes of output a thread: registers o0..o3, `to` is where they go.
Case block_case(const std::string& name, const std::string& body,
                const std::string& declarations = "", uint32_t arch = 80) {
  Case test;
  test.name = name;
  test.arch = arch;
  test.block = kBlock;
  test.input = random_bytes(name, size_t{kBlock} * 16);
  test.output_bytes = size_t{kBlock} * 16;
  const std::string text = fmt::format(R"(  .reg .pred p, q;
  .reg .b16 h0, h1;
  .reg .b32 o<4>, x<8>, s, lane;
  .reg .b64 from, to, y<4>;
  mad.wide.u32 from, tid, 16, in;
  mad.wide.u32 to, tid, 16, out;
  and.b32 lane, tid, 31;
{}
  st.global.v4.b32 [to], {{o0, o1, o2, o3}};)",
                                       body);
  test.ptx = module_around(text, arch, declarations);
  return test;
}

const std::string kTile = ".shared .align 16 .b8 tile[2048];";

// Through shared memory, 16 bytes a thread at `s`.
Case shared_case(const std::string& name, const std::string& body, uint32_t arch = 80) {
  return block_case(name,
                    "  mov.u32 s, tile;\n  mad.lo.u32 s, tid, 16, s;\n"
                    "  ld.global.v4.b32 {o0, o1, o2, o3}, [from];\n" +
                        body,
                    kTile, arch);
}

void add_loads(std::vector<Case>& out) {
  for (const char* type : {"u8", "s8", "u16", "s16"}) {
    out.push_back(
        block_case(fmt::format("ld.{}", type),
                   fmt::format("  ld.global.{0} o0, [from];\n  ld.global.{0} o1, [from+2];\n"
                               "  ld.global.{0} h0, [from+4];\n  mov.b32 o2, {{h0, h0}};\n"
                               "  ld.global.{0} y0, [from+6];\n  cvt.u32.u64 o3, y0;",
                               type)));
  }
  for (const char* kind : {"ld.global.nc", "ld.global.ca", "ld.global.cg", "ld.volatile.global",
                           "ld.relaxed.gpu.global", "ld.acquire.sys.global",
                           "ld.global.L1::no_allocate", "ldu.global", "ld"}) {
    std::string name = kind;
    for (char& c : name) c = c == ':' ? '_' : c;
    const bool vector = std::string(kind).find("relaxed") == std::string::npos &&
                        std::string(kind).find("acquire") == std::string::npos;
    const std::string generic = std::string(kind) == "ld" ? "  cvta.global.u64 from, from;\n" : "";
    out.push_back(block_case(
        name, generic + (vector ? fmt::format("  {}.v4.b32 {{o0, o1, o2, o3}}, [from];", kind)
                                : fmt::format("  {0}.b32 o0, [from];\n  {0}.b32 o1, [from+4];\n"
                                              "  {0}.b32 o2, [from+8];\n  {0}.b32 o3, [from+12];",
                                              kind))));
  }
  out.push_back(block_case("ld.v2.b64",
                           "  ld.global.v2.b64 {y0, y1}, [from];\n"
                           "  mov.b64 {o0, o1}, y1;\n  mov.b64 {o2, o3}, y0;"));
  out.push_back(block_case("prefetch",
                           "  prefetch.global.L2 [from];\n  prefetchu.L1 [from];\n"
                           "  createpolicy.fractional.L2::evict_first.b64 y0, 1.0;\n"
                           "  ld.global.L2::cache_hint.v4.b32 {o0, o1, o2, o3}, [from], y0;"));
  out.push_back(block_case("ld.const",
                           "  and.b32 s, tid, 7;\n  mov.u64 y0, table;\n"
                           "  mad.wide.u32 y0, s, 4, y0;\n  ld.const.b32 o0, [y0];\n"
                           "  ld.const.b32 o1, [table+12];\n  mov.b32 o2, o0;\n"
                           "  ld.global.b32 o3, [flag];",
                           ".const .align 4 .u32 table[8] = {1, 2, 3, 5, 8, 13, 21, 34};\n"
                           ".global .align 4 .u32 flag = 77;"));
  out.push_back(block_case("ld.local", R"(  .local .align 16 .b8 frame[32];
  mov.u64 y0, frame;
  cvta.local.u64 y1, y0;
  isspacep.local p, y1;
  ld.global.v4.b32 {o0, o1, o2, o3}, [from];
  st.local.v4.b32 [y0], {o3, o2, o1, o0};
  and.b32 s, tid, 3;
  mad.wide.u32 y1, s, 4, y1;
  ld.u32 o0, [y1];
  ld.local.b16 h0, [frame+2];
  mov.b32 o1, {h0, h0};
  selp.b32 o2, o2, 0, p;)"));
}

void add_shared(std::vector<Case>& out) {
  out.push_back(shared_case("st.shared.v4",
                            "  st.shared.v4.b32 [s], {o3, o2, o1, o0};\n"
                            "  bar.sync 0;\n  xor.b32 s, s, 1008;\n"
                            "  ld.shared.v2.b32 {o0, o1}, [s];\n"
                            "  ld.shared.b64 y0, [s+8];\n  mov.b64 {o3, o2}, y0;"));
  out.push_back(shared_case("st.generic", R"(  cvt.u64.u32 y0, s;
  cvta.shared.u64 y1, y0;
  isspacep.shared p, y1;
  st.v2.b32 [y1], {o2, o3};
  st.u8 [y1+8], o0;
  st.shared.u16 [s+10], o1;
  ld.b32 o0, [y1+4];
  ld.u8 o1, [y1+8];
  cvta.to.shared.u64 y2, y1;
  cvt.u32.u64 x0, y2;
  ld.shared.u16 o2, [x0+10];
  selp.b32 o3, o3, 1, p;)"));
  for (const int bytes : {4, 8, 16}) {
    out.push_back(shared_case(fmt::format("cp.async.{}", bytes),
                              fmt::format("  st.shared.v4.b32 [s], {{o0, o1, o2, o3}};\n"
                                          "  cp.async.ca.shared.global [s], [from], {};\n"
                                          "  cp.async.commit_group;\n  cp.async.wait_group 0;\n"
                                          "  ld.shared.v4.b32 {{o0, o1, o2, o3}}, [s];",
                                          bytes)));
  }
  out.push_back(shared_case("cp.async.zfill",
                            "  and.b32 x0, tid, 15;\n"
                            "  cp.async.cg.shared.global [s], [from], 16, x0;\n"
                            "  cp.async.wait_all;\n"
                            "  ld.shared.v4.b32 {o0, o1, o2, o3}, [s];"));
}

void add_atomics(std::vector<Case>& out) {
  struct Atomic {
    const char* op;
    const char* register_type;
  };
  // 32 lanes meet at 4 words; the result must not depend on their order, so old values are not
  // kept.
  static constexpr Atomic kAtomics[] = {{"add.u32", "b32"}, {"min.u32", "b32"}, {"max.u32", "b32"},
                                        {"min.s32", "b32"}, {"max.s32", "b32"}, {"and.b32", "b32"},
                                        {"or.b32", "b32"},  {"xor.b32", "b32"}, {"add.u64", "b64"},
                                        {"min.u64", "b64"}, {"max.s64", "b64"}, {"and.b64", "b64"},
                                        {"inc.u32", "b32"}};
  for (const Atomic& atomic : kAtomics) {
    for (const char* space : {"global", "shared"}) {
      const bool shared = std::string(space) == "shared";
      const bool wide = std::string(atomic.register_type) == "b64";
      const std::string name = fmt::format("atom.{}.{}", space, atomic.op);
      const std::string value = std::string(atomic.op) == "inc.u32" ? "7" : wide ? "y0" : "x0";
      const std::string where = shared ? "s" : "y2";
      const std::string body = fmt::format(
          "  ld.global.v2.b64 {{y0, y1}}, [from];\n  ld.global.b32 x0, [from];\n"
          "  and.b32 x1, tid, 48;\n  mov.u32 s, tile;\n  add.u32 s, s, x1;\n"
          "  mad.wide.u32 y2, x1, 1, out;\n"
          "  mov.b32 x2, 0;\n  st.{0}.v4.b32 [{1}], {{x2, x2, x2, x2}};\n  bar.sync 0;\n"
          "  atom.{0}.{2} {3}, [{1}], {4};\n  red.{0}.{2} [{1}], {4};\n  bar.sync 0;\n"
          "  ld.{0}.v4.b32 {{o0, o1, o2, o3}}, [{1}];\n  bar.sync 0;",
          space, where, atomic.op, wide ? "y3" : "x3", value);
      // Every thread stores zeros to the same place at the start: a race on purpose, of equal
      // values.
      std::string single = body;
      const size_t at = single.find("  st." + std::string(space) + ".v4");
      single.insert(at, "  and.b32 x4, tid, 15;\n  setp.eq.u32 p, x4, 0;\n");
      const size_t store = single.find("  st." + std::string(space) + ".v4");
      single.insert(store + 2, "@p ");
      out.push_back(block_case(name, single, kTile));
    }
  }
  out.push_back(shared_case("atom.exchange", R"(  st.shared.v4.b32 [s], {o0, o1, o2, o3};
  atom.shared.exch.b32 x0, [s], o3;
  atom.shared.cas.b32 x1, [s+4], o1, o0;
  atom.shared.cas.b32 x2, [s+8], o1, o0;
  atom.shared.dec.u32 x3, [s+12], 5;
  atom.shared.cas.b16 h0, [s+2], h0, h0;
  ld.shared.v4.b32 {o0, o1, o2, o3}, [s];
  xor.b32 o0, o0, x0;
  add.u32 o1, o1, x1;
  xor.b32 o2, o2, x2;
  add.u32 o3, o3, x3;)"));
  out.back().ptx.replace(out.back().ptx.find("  atom.shared.cas.b16"), 0, "  mov.b16 h0, 0;\n");
  // One lane a word, so floats have one order.
  for (const char* op : {"add.f32", "add.noftz.f16x2", "add.noftz.bf16x2"}) {
    out.push_back(block_case(
        fmt::format("red.{}", op),
        fmt::format("  ld.global.v4.{0} {{o0, o1, o2, o3}}, [from];\n"
                    "  st.global.v4.b32 [to], {{o0, o1, o2, o3}};\n"
                    "  red.global.{1} [to], o1;\n  atom.global.{1} x0, [to+4], o2;\n"
                    "  ld.global.v4.b32 {{o0, o1, o2, o3}}, [to];\n  add.u32 o3, o3, x0;",
                    "b32", op),
        "", std::string(op).find("bf16") != std::string::npos ? 90 : 80));
  }
  out.push_back(block_case("atom.add.f64",
                           "  ld.global.v2.b64 {y0, y1}, [from];\n"
                           "  st.global.v2.b64 [to], {y0, y1};\n"
                           "  atom.global.add.f64 y2, [to], y1;\n"
                           "  ld.global.v2.b64 {y0, y1}, [to];\n"
                           "  mov.b64 {o0, o1}, y0;\n  mov.b64 {o2, o3}, y1;"));
}

}  // namespace

std::vector<Case> memory_cases() {
  std::vector<Case> out;
  add_loads(out);
  add_shared(out);
  add_atomics(out);
  return out;
}

}  // namespace gemmtune::ptxsim::hardware
