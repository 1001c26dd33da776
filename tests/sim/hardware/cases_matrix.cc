// ldmatrix, stmatrix, movmatrix, mma and wmma. Inputs of the floating-point products are small
// integers (results exact whatever the order) and, as separate cases, random values.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "cases.h"

namespace gemmtune::ptxsim::hardware {

namespace {

// Encodings of a small integer (exact in every format) or of a random value in [-1, 1).
uint32_t encode(const std::string& type, uint64_t bits, bool exact) {
  const float value = exact ? static_cast<float>(static_cast<int>(bits % 9) - 4)
                            : static_cast<float>(bits >> 40) * 0x1p-23F - 1.0F;
  const auto pattern = std::bit_cast<uint32_t>(value);
  if (type == "bf16") return pattern >> 16;
  if (type == "f16") {  // truncated; the values are normal or zero, or flushed
    const int exponent = static_cast<int>(pattern >> 23 & 0xFF) - 127 + 15;
    const uint32_t sign = pattern >> 16 & 0x8000;
    return exponent <= 0 ? sign
                         : sign | static_cast<uint32_t>(exponent) << 10 | (pattern >> 13 & 0x3FF);
  }
  if (type == "tf32") return pattern & 0xFFFFE000U;
  return pattern;
}

std::vector<std::byte> encoded(const std::string& name, const std::string& type, size_t bytes,
                               bool exact) {
  const size_t width = type == "f16" || type == "bf16" ? 2 : 4;
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes / width; ++i) {
    const uint32_t value = encode(type, mix(name.size() * 1000 + name[4], i), exact);
    std::memcpy(&out[i * width], &value, width);
  }
  return out;
}

std::string registers(const char* prefix, size_t count) {
  std::string out = "{";
  for (size_t i = 0; i < count; ++i) out += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return out + "}";
}

struct Mma {
  const char* shape;
  const char* input;
  const char* types;  // d.a.b.c
  size_t a, b, c;     // registers
  const char* accumulator;
  double random_absolute = 0;  // of the random case: the largest difference from an H200
};

// Fragments come straight from memory: thread t reads its registers one after another.
Case mma_case(const Mma& mma, bool exact) {
  Case test;
  test.name = fmt::format("mma.{}.{}.{}", mma.shape, mma.types, exact ? "exact" : "random");
  test.block = 32;
  const size_t words = mma.a + mma.b + mma.c;
  test.input = encoded(test.name, mma.input, 32 * words * 4, exact);
  const std::string c_type = mma.accumulator;
  if (c_type == "f32" || c_type == "s32") {  // the accumulator has another encoding
    for (size_t lane = 0; lane < 32; ++lane) {
      for (size_t i = 0; i < mma.c; ++i) {
        const uint64_t bits = mix(77, lane * 8 + i);
        const uint32_t value =
            c_type == "s32" ? static_cast<uint32_t>(bits & 0xFFFF) : encode("f32", bits, exact);
        std::memcpy(&test.input[(lane * words + mma.a + mma.b + i) * 4], &value, 4);
      }
    }
  }
  test.output_bytes = 32 * mma.c * 4;
  if (!exact && c_type == "f32") {
    test.element = Element::f32;
    test.tolerance.absolute = mma.random_absolute;
  }
  std::string body = fmt::format(
      "  .reg .b32 a<8>, b<8>, c<8>;\n  .reg .b64 at;\n"
      "  mad.wide.u32 at, tid, {}, in;\n",
      words * 4);
  size_t word = 0;
  for (size_t i = 0; i < mma.a; ++i)
    body += fmt::format("  ld.global.b32 a{}, [at+{}];\n", i, 4 * word++);
  for (size_t i = 0; i < mma.b; ++i)
    body += fmt::format("  ld.global.b32 b{}, [at+{}];\n", i, 4 * word++);
  for (size_t i = 0; i < mma.c; ++i)
    body += fmt::format("  ld.global.b32 c{}, [at+{}];\n", i, 4 * word++);
  const std::string c = registers("c", mma.c);
  body += fmt::format("  mma.sync.aligned.{}.row.col.{} {}, {}, {}, {};\n", mma.shape, mma.types, c,
                      registers("a", mma.a), registers("b", mma.b), c);
  body += fmt::format("  mad.wide.u32 at, tid, {}, out;\n", mma.c * 4);
  for (size_t i = 0; i < mma.c; ++i)
    body += fmt::format("  st.global.b32 [at+{}], c{};\n", 4 * i, i);
  // .f32 accumulators are f32 registers to ptxas
  if (c_type == "f32") {
    body.replace(body.find("b<8>, c<8>;"), 11, "b<8>;\n  .reg .f32 c<8>;");
  }
  test.ptx = module_around(body, 80);
  return test;
}

Case matrix_move(const std::string& name, const std::string& body, uint32_t arch) {
  Case test;
  test.name = name;
  test.arch = arch;
  test.block = 32;
  test.input = random_bytes(name, 512);
  test.output_bytes = 512;
  test.ptx = module_around(
      "  .reg .b32 o<4>, s, x;\n  .reg .b64 at;\n"
      "  mad.wide.u32 at, tid, 16, in;\n"
      "  ld.global.v4.b32 {o0, o1, o2, o3}, [at];\n"
      "  mov.u32 s, tile;\n  mad.lo.u32 s, tid, 16, s;\n" +
          body +
          "\n  mad.wide.u32 at, tid, 16, out;\n"
          "  st.global.v4.b32 [at], {o0, o1, o2, o3};",
      arch, ".shared .align 16 .b8 tile[512];");
  return test;
}

// Small integers as f64: exact.
Case double_case() {
  Case test;
  test.name = "mma.m8n8k4.f64";
  test.block = 32;
  test.input.resize(32 * 32);
  test.output_bytes = 32 * 16;
  for (size_t i = 0; i < 128; ++i) {
    const double value = static_cast<double>(mix(3, i) % 19) - 9;
    std::memcpy(&test.input[i * 8], &value, 8);
  }
  test.ptx = module_around(R"(  .reg .f64 a, b, c, d;
  .reg .b64 at;
  mad.wide.u32 at, tid, 32, in;
  ld.global.v2.f64 {a, b}, [at];
  ld.global.v2.f64 {c, d}, [at+16];
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {c, d}, {a}, {b}, {c, d};
  mad.wide.u32 at, tid, 16, out;
  st.global.v2.f64 [at], {c, d};)",
                           80);
  return test;
}

Case wmma_case(const char* type, bool exact) {
  Case test;
  test.name = fmt::format("wmma.{}.{}", type, exact ? "exact" : "random");
  test.block = 32;
  test.input = encoded(test.name, type, 1024, exact);
  test.output_bytes = 1024;
  if (!exact) {
    test.element = Element::f32;
    test.tolerance.absolute = 0x1p-22;  // the largest difference from an H200
  }
  const bool half = std::string(type) == "f16";
  const std::string a = registers("a", half ? 8 : 4);
  const std::string b = registers("b", half ? 8 : 4);
  const std::string c = registers("c", 8);
  std::string body = "  .reg .b32 a<8>, b<8>;\n  .reg .f32 c<8>;\n  .reg .b64 at;\n";
  for (int i = 0; i < 8; ++i) body += fmt::format("  mov.f32 c{}, 0f00000000;\n", i);
  body +=
      fmt::format("  wmma.load.a.sync.aligned.row.m16n16k16.global.{} {}, [in], 16;\n", type, a);
  body += "  add.u64 at, in, 512;\n";
  body +=
      fmt::format("  wmma.load.b.sync.aligned.col.m16n16k16.global.{} {}, [at], 16;\n", type, b);
  body += fmt::format("  wmma.mma.sync.aligned.row.col.m16n16k16.{} {}, {}, {}, {};\n",
                      half ? "f32.f32" : "f32.bf16.bf16.f32", c, a, b, c);
  body += fmt::format("  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [out], {}, 16;\n", c);
  test.ptx = module_around(body, 80);
  return test;
}

}  // namespace

std::vector<Case> matrix_cases() {
  static constexpr Mma kMmas[] = {
      {"m16n8k16", "f16", "f32.f16.f16.f32", 4, 2, 4, "f32", 0x1p-22},
      {"m16n8k16", "f16", "f16.f16.f16.f16", 4, 2, 2, "f16"},
      {"m16n8k8", "f16", "f32.f16.f16.f32", 2, 1, 4, "f32", 0x1p-22},
      {"m16n8k8", "f16", "f16.f16.f16.f16", 2, 1, 2, "f16"},
      {"m16n8k16", "bf16", "f32.bf16.bf16.f32", 4, 2, 4, "f32", 0x1p-21},
      {"m16n8k8", "bf16", "f32.bf16.bf16.f32", 2, 1, 4, "f32", 0x1p-22},
      {"m16n8k8", "tf32", "f32.tf32.tf32.f32", 4, 2, 4, "f32", 0x1p-22},
      {"m16n8k4", "tf32", "f32.tf32.tf32.f32", 2, 1, 4, "f32", 0x1p-22},
      {"m16n8k32", "s8", "s32.s8.s8.s32", 4, 2, 4, "s32"},
      {"m16n8k32", "s8", "s32.u8.s8.s32", 4, 2, 4, "s32"},
      {"m16n8k16", "s8", "s32.u8.u8.s32", 2, 1, 4, "s32"},
  };
  std::vector<Case> out;
  for (const Mma& mma : kMmas) {
    const std::string accumulator = mma.accumulator;
    if (accumulator != "s32") out.push_back(mma_case(mma, true));
    if (accumulator != "f16") out.push_back(mma_case(mma, false));
  }
  for (const char* type : {"f16", "bf16"}) {
    for (const bool exact : {true, false}) out.push_back(wmma_case(type, exact));
  }
  const std::string fill = "  st.shared.v4.b32 [s], {o0, o1, o2, o3};\n  bar.sync 0;\n";
  for (const char* trans : {"", ".trans"}) {
    out.push_back(matrix_move(
        fmt::format("ldmatrix.x4{}", trans),
        fill + fmt::format("  ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{o0, o1, o2, o3}}, [s];",
                           trans),
        80));
    out.push_back(matrix_move(
        fmt::format("ldmatrix.x2{}", trans),
        fill + fmt::format("  ldmatrix.sync.aligned.m8n8.x2{0}.shared.b16 {{o0, o1}}, [s];\n"
                           "  ldmatrix.sync.aligned.m8n8.x1{0}.shared.b16 {{o2}}, [s];",
                           trans),
        80));
    out.push_back(matrix_move(
        fmt::format("stmatrix.x4{}", trans),
        fmt::format("  stmatrix.sync.aligned.m8n8.x4{}.shared.b16 [s], {{o0, o1, o2, o3}};\n"
                    "  bar.sync 0;\n  ld.shared.v4.b32 {{o0, o1, o2, o3}}, [s];",
                    trans),
        90));
  }
  out.push_back(double_case());
  out.push_back(matrix_move("movmatrix", "  movmatrix.sync.aligned.m8n8.trans.b16 o0, o1;", 80));
  return out;
}

}  // namespace gemmtune::ptxsim::hardware
