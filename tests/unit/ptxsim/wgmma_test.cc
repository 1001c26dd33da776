// wgmma.mma_async against a plain product: every width, type, major and swizzle.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixture.h"
#include "ptxsim/decode/half.h"

namespace gemmtune::ptxsim::testing {

namespace {

// How one operand's elements are written and read.
struct Numbers {
  const char* name;
  uint32_t bytes;
  uint32_t (*encode)(int);  // of a small integer, or any bits for random tests
  double (*decode)(uint32_t);
};

uint32_t encode_e5m2(int value) {
  return float_to_half(static_cast<float>(value)) >> 8;
}
// By search: the formula is the simulator's.
double decode_e4m3(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 3 & 15);
  const double fraction = (bits & 7) / 8.0;
  const double value =
      exponent == 0 ? fraction * std::pow(2.0, -6) : (1 + fraction) * std::pow(2.0, exponent - 7);
  return (bits & 0x80) != 0 ? -value : value;
}
uint32_t encode_e4m3(int value) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    if ((bits & 0x7F) != 0x7F && decode_e4m3(bits) == value) return bits;
  }
  return 0;
}

const Numbers kHalf = {
    "f16", 2, [](int v) -> uint32_t { return float_to_half(static_cast<float>(v)); },
    [](uint32_t b) -> double { return half_to_float(static_cast<uint16_t>(b)); }};
const Numbers kBfloat = {
    "bf16", 2, [](int v) -> uint32_t { return float_to_bfloat(static_cast<float>(v)); },
    [](uint32_t b) -> double { return bfloat_to_float(static_cast<uint16_t>(b)); }};
const Numbers kTf32 = {"tf32", 4, [](int v) -> uint32_t { return bits_of(static_cast<float>(v)); },
                       [](uint32_t b) -> double { return float_of(b & 0xFFFFE000U); }};
const Numbers kE4m3 = {"e4m3", 1, encode_e4m3, decode_e4m3};
const Numbers kE5m2 = {"e5m2", 1, encode_e5m2, [](uint32_t b) -> double {
                         return half_to_float(static_cast<uint16_t>(b << 8));
                       }};

const Numbers kS8 = {"s8", 1, [](int v) -> uint32_t { return static_cast<uint8_t>(v); },
                     [](uint32_t b) -> double { return static_cast<int8_t>(b); }};

// One operand in shared memory. The formulas are those of CUTLASS's canonical layouts, with the
// chunks of a row exchanged by the row's number.
struct Placement {
  bool mn_major = false;
  uint32_t swizzle = 0;  // bytes
  uint32_t step = 0;     // which 32 bytes of k, where several lie in one atom
  uint32_t count = 64;   // rows of A, columns of B

  uint32_t leading(uint32_t /*element*/) const {
    if (swizzle == 0) return mn_major ? count * 16 : 128;
    return mn_major ? 16 * swizzle : 16;
  }
  uint32_t stride() const { return swizzle == 0 ? (mn_major ? 128 : 256) : 8 * swizzle; }

  uint32_t offset(uint32_t mn, uint32_t k, uint32_t element) const {
    if (swizzle == 0) {
      return mn_major ? mn / 8 * stride() + k / 8 * leading(element) + k % 8 * 16 + mn % 8 * 2
                      : mn / 8 * stride() + k * element / 16 * leading(element) + mn % 8 * 16 +
                            k * element % 16;
    }
    const uint32_t row = mn_major ? k : mn;
    const uint32_t byte = mn_major ? mn * 2 % swizzle : 32 * step + k * element;
    const uint32_t chunk = byte / 16 ^ row % 8 * swizzle / 128;
    const uint32_t atom = mn_major ? mn * 2 / swizzle * leading(element) : 0;
    return atom + row / 8 * stride() + row % 8 * swizzle + chunk * 16 + byte % 16;
  }
  uint64_t descriptor(uint32_t address, uint32_t element) const {
    const uint64_t mode = swizzle == 0 ? 0 : swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    const uint64_t start = (address + 32 * step) >> 4;
    return start | uint64_t{leading(element) >> 4} << 16 | uint64_t{stride() >> 4} << 32 |
           mode << 62;
  }
};

struct Case {
  const Numbers* a = &kBfloat;
  const Numbers* b = &kBfloat;
  uint32_t n = 64;
  bool half_result = false;
  bool a_in_registers = false;
  bool accumulates = true;
  bool negates = false;
  bool random = false;  // any values, not small integers
  Placement a_at, b_at;

  uint32_t k() const { return 32 / a->bytes; }
  uint32_t results() const { return half_result ? n / 4 : n / 2; }
  bool is_integer() const { return a == &kS8; }
  const char* sum() const { return is_integer() ? ".s32." : half_result ? ".f16." : ".f32."; }
};

std::string numbered(const char* prefix, uint32_t count) {
  std::string out = "{";
  for (uint32_t i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ", ") + std::string(prefix) + std::to_string(i);
  }
  return out + "}";
}

// Copies an image into shared memory, multiplies, and writes each thread's sums.
std::string text_of(const Case& test, uint32_t image_bytes) {
  const std::string n = std::to_string(test.n);
  const std::string results = std::to_string(test.results());
  std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 tile[];\n"
      ".visible .entry k(.param .u64 image, .param .u64 fragments, .param .u64 sums,\n"
      "  .param .u64 da, .param .u64 db, .param .u32 add)\n{\n"
      "  .reg .b64 from, a, b, at, x; .reg .b32 tid, i, to, adds; .reg .pred p, more;\n"
      "  .reg .b32 d<128>; .reg .b32 r<4>; .reg .b32 v<4>;\n"
      "  ld.param.u64 from, [image]; ld.param.u64 a, [da]; ld.param.u64 b, [db];\n"
      "  ld.param.u32 adds, [add]; setp.ne.u32 p, adds, 0;\n"
      "  mov.u32 tid, %tid.x; shl.b32 i, tid, 4;\nCOPY:\n"
      "  cvt.u64.u32 x, i; add.u64 at, from, x; ld.global.v4.u32 {v0, v1, v2, v3}, [at];\n"
      "  mov.u32 to, tile; add.u32 to, to, i; st.shared.v4.u32 [to], {v0, v1, v2, v3};\n"
      "  add.u32 i, i, 2048; setp.lt.u32 more, i, " +
      std::to_string(image_bytes) +
      ";\n  @more bra COPY;\n  fence.proxy.async;\n  bar.sync 0;\n"
      "  ld.param.u64 at, [fragments]; mul.wide.u32 x, tid, 16; add.u64 at, at, x;\n"
      "  ld.global.v4.u32 {r0, r1, r2, r3}, [at];\n"
      "  ld.param.u64 at, [sums]; mul.wide.u32 x, tid, " +
      std::to_string(4 * test.results()) + "; add.u64 at, at, x;\n";
  for (uint32_t i = 0; i < test.results(); ++i) {
    text += "  ld.global.u32 d" + std::to_string(i) + ", [at+" + std::to_string(4 * i) + "];\n";
  }
  const std::string sign = test.negates ? "-1" : "1";
  text += "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n" + n + "k" +
          std::to_string(test.k()) + test.sum() + test.a->name + "." + test.b->name + " " +
          numbered("d", test.results()) + ", " + (test.a_in_registers ? "{r0, r1, r2, r3}" : "a") +
          ", b, p";
  if (!test.is_integer()) text += ", " + sign + ", 1";
  if (test.a->bytes == 2) {
    if (!test.a_in_registers) text += test.a_at.mn_major ? ", 1" : ", 0";
    text += test.b_at.mn_major ? ", 1" : ", 0";
  }
  text += ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (uint32_t i = 0; i < test.results(); ++i) {
    text += "  st.global.u32 [at+" + std::to_string(4 * i) + "], d" + std::to_string(i) + ";\n";
  }
  return text + "  ret;\n}\n";
}

using Bits = std::vector<std::vector<uint32_t>>;  // by mn, then k

Bits make_bits(const Numbers& numbers, uint32_t count, uint32_t k, bool any,
               std::mt19937_64& random) {
  Bits out(count, std::vector<uint32_t>(k));
  for (auto& row : out) {
    for (uint32_t& bits : row) {
      bits = numbers.encode(static_cast<int>(random() % 9) - 4);
      if (!any) continue;
      const auto value = static_cast<float>(random() % 100001) / 50000.0F - 1.0F;
      bits = numbers.bytes == 4   ? bits_of(value)
             : &numbers == &kHalf ? float_to_half(value)
             : numbers.bytes == 2 ? float_to_bfloat(value)
             : &numbers == &kS8   ? static_cast<uint32_t>(random() % 256)
                                  : static_cast<uint32_t>(random() % 0x70);
    }
  }
  return out;
}

void place(const Bits& bits, const Placement& at, uint32_t element, uint32_t base,
           std::vector<std::byte>& image) {
  for (uint32_t mn = 0; mn < bits.size(); ++mn) {
    for (uint32_t k = 0; k < bits[mn].size(); ++k) {
      const uint32_t offset = base + at.offset(mn, k, element);
      if (image.size() < offset + 16) image.resize((offset + 16 + 2047) / 2048 * 2048);
      std::memcpy(&image[offset], &bits[mn][k], element);
    }
  }
}

// Thread t's registers of A, as the tables of the PTX ISA have them.
std::vector<uint32_t> fragments_of(const Bits& a, uint32_t element) {
  std::vector<uint32_t> out(128 * 4);
  const uint32_t each = 4 / element;
  for (uint32_t t = 0; t < 128; ++t) {
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t row = t / 32 * 16 + t % 32 / 4 + (r % 2 == 0 ? 0 : 8);
      const uint32_t first = t % 4 * each + (r < 2 ? 0 : 4 * each);
      for (uint32_t i = 0; i < each; ++i) {
        out[t * 4 + r] |= a[row][first + i] << (8 * element * i);
      }
    }
  }
  return out;
}

struct Sums {
  std::vector<uint32_t> registers;
  bool half = false;
  bool integer = false;
  uint32_t results = 0;

  // Of D's element: thread and register, and which half of it.
  uint32_t word(uint32_t row, uint32_t column) const {
    const uint32_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    const uint32_t i = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
    return thread * results + (half ? i / 2 : i);
  }
  double value(uint32_t row, uint32_t column) const {
    const uint32_t bits = registers[word(row, column)];
    if (integer) return static_cast<int32_t>(bits);
    return half ? half_to_float(static_cast<uint16_t>(bits >> (16 * (column % 2))))
                : float_of(bits);
  }
};

void check(const Case& test, AsyncMode mode) {
  std::mt19937_64 random(test.n);
  const Bits a = make_bits(*test.a, 64, test.k(), test.random, random);
  const Bits b = make_bits(*test.b, test.n, test.k(), test.random, random);
  std::vector<std::byte> image(2048);
  if (!test.a_in_registers) place(a, test.a_at, test.a->bytes, 0, image);
  const auto b_base = static_cast<uint32_t>(image.size());
  place(b, test.b_at, test.b->bytes, b_base, image);

  Sums sums;
  sums.half = test.half_result;
  sums.integer = test.is_integer();
  sums.results = test.results();
  sums.registers.resize(size_t{128} * sums.results);
  for (uint32_t& word : sums.registers) {
    const float value = static_cast<float>(random() % 17) - 8;
    word = test.half_result    ? float_to_half(value) * 0x10001U
           : test.is_integer() ? static_cast<uint32_t>(random())
                               : bits_of(value);
  }
  const Sums old = sums;

  const Module module = parse_text(text_of(test, static_cast<uint32_t>(image.size())));
  GlobalMemory memory;
  const Buffer<std::byte> image_buffer(memory, image, "image");
  const Buffer<uint32_t> fragments(memory, fragments_of(a, test.a->bytes), "fragments");
  const Buffer<uint32_t> out(memory, sums.registers, "sums");
  LaunchConfig launch;
  launch.block[0] = 128;
  launch.dynamic_smem_bytes = static_cast<int64_t>(image.size());
  Options options;
  options.async = mode;
  constexpr uint32_t kBase = 1024;  // where shared memory begins
  const RunResult result =
      run_ok(module, "k", launch,
             {argument(image_buffer.address()), argument(fragments.address()),
              argument(out.address()), argument(test.a_at.descriptor(kBase, test.a->bytes)),
              argument(test.b_at.descriptor(kBase + b_base, test.b->bytes)),
              argument(uint32_t{test.accumulates})},
             memory, options);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  sums.registers = out.get();
  int wrong = 0;
  for (uint32_t row = 0; row < 64; ++row) {
    for (uint32_t column = 0; column < test.n; ++column) {
      double sum = test.accumulates ? old.value(row, column) : 0.0;
      for (uint32_t k = 0; k < test.k(); ++k) {
        const double left = test.a->decode(a[row][k]);
        sum += (test.negates ? -left : left) * test.b->decode(b[column][k]);
      }
      double expected = static_cast<float>(sum);
      if (test.half_result) expected = half_to_float(half_from_double(sum));
      if (test.is_integer())
        expected = static_cast<int32_t>(static_cast<int64_t>(sum));  // mod 2^32
      if (sums.value(row, column) != expected) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

void check(const Case& test) {
  CAPTURE(test.n);
  CAPTURE(std::string(test.a->name));
  CAPTURE(std::string(test.b->name));
  CAPTURE(test.a_at.mn_major);
  CAPTURE(test.b_at.mn_major);
  CAPTURE(test.a_at.swizzle);
  CAPTURE(test.b_at.swizzle);
  CAPTURE(test.a_in_registers);
  check(test, AsyncMode::early);
  check(test, AsyncMode::late);
}

constexpr uint32_t kSwizzles[] = {0, 32, 64, 128};

// What MN-major needs whole: atoms of a swizzle's width.
bool fits(bool mn_major, uint32_t swizzle, uint32_t n) {
  return !mn_major || swizzle == 0 || n % (swizzle / 2) == 0;
}

}  // namespace

TEST_CASE("wgmma of every width") {
  for (uint32_t n = 8; n <= 256; n += 8) {
    Case test;
    test.n = test.b_at.count = n;
    test.a_at.swizzle = kSwizzles[n / 8 % 4];
    test.b_at.swizzle = kSwizzles[n / 32 % 4];
    test.accumulates = n % 16 == 0;
    test.a = test.b = n % 24 == 0 ? &kHalf : &kBfloat;
    test.half_result = n % 48 == 0;
    check(test);
  }
}

TEST_CASE("wgmma of both majors and every swizzle of both operands") {
  for (const bool a_mn : {false, true}) {
    for (const bool b_mn : {false, true}) {
      for (const uint32_t a_swizzle : kSwizzles) {
        for (const uint32_t b_swizzle : kSwizzles) {
          for (const uint32_t n : {24U, 64U, 192U}) {
            if (!fits(b_mn, b_swizzle, n)) continue;
            Case test;
            test.n = n;
            test.a_at = {a_mn, a_swizzle, 0, 64};
            test.b_at = {b_mn, b_swizzle, 0, n};
            test.random = n == 24;
            check(test);
          }
        }
      }
    }
  }
}

TEST_CASE("wgmma of all types, with A in shared memory and in registers") {
  const std::pair<const Numbers*, const Numbers*> pairs[] = {
      {&kHalf, &kHalf}, {&kBfloat, &kBfloat}, {&kTf32, &kTf32}, {&kE4m3, &kE4m3},
      {&kE4m3, &kE5m2}, {&kE5m2, &kE4m3},     {&kE5m2, &kE5m2}};
  for (const auto& pair : pairs) {
    for (const bool registers : {false, true}) {
      for (const bool half : {false, true}) {
        if (half && (pair.first == &kBfloat || pair.first == &kTf32)) continue;
        for (const uint32_t swizzle : kSwizzles) {
          Case test;
          test.a = pair.first;
          test.b = pair.second;
          test.n = test.b_at.count = 40;
          test.a_in_registers = registers;
          test.half_result = half;
          test.a_at.swizzle = test.b_at.swizzle = swizzle;
          test.random = swizzle == 64;
          test.negates = swizzle == 32 && test.a->bytes == 2;
          check(test);
        }
      }
    }
  }
}

TEST_CASE("wgmma of integers: all values, sums modulo 2^32, and the widths that there are") {
  for (uint32_t n = 8; n <= 256; n += n < 32 ? 8 : 16) {
    Case test;
    test.a = test.b = &kS8;
    test.n = test.b_at.count = n;
    test.random = true;
    test.accumulates = n % 3 != 0;
    test.a_in_registers = n % 5 == 0;
    test.a_at.swizzle = test.b_at.swizzle = kSwizzles[n / 8 % 4];
    check(test);
  }
  const auto is_known = [](const std::string& instruction, const std::string& operands) {
    const Module module = parse_text(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .b64 a, b; .reg .b32 d<128>;\nwgmma.mma_async.sync.aligned." +
        instruction + " " + operands + ";\nret;\n}\n");
    return decode(module, "k").has_value();
  };
  CHECK(is_known("m64n8k32.s32.s8.s8", "{d0, d1, d2, d3}, a, b, 1"));
  CHECK_FALSE(is_known("m64n8k32.s32.s8.s8", "{d0, d1, d2, d3}, a, b, 1, 1, 1"));
  CHECK_FALSE(is_known("m64n8k32.f32.s8.s8", "{d0, d1, d2, d3}, a, b, 1"));
  CHECK_FALSE(is_known("m64n8k32.f16.s8.s8", "{d0, d1}, a, b, 1"));
  CHECK_FALSE(is_known("m64n8k32.s32.s8.e4m3", "{d0, d1, d2, d3}, a, b, 1"));
  CHECK_FALSE(is_known("m64n8k32.f32.e4m3.s8", "{d0, d1, d2, d3}, a, b, 1, 1, 1"));
  CHECK_FALSE(is_known("m64n8k16.s32.f16.f16", "{d0, d1, d2, d3}, a, b, 1, 1, 1, 0, 0"));
  CHECK_FALSE(is_known("m64n40k32.s32.s8.s8", numbered("d", 20) + ", a, b, 1"));
  CHECK(is_known("m64n48k32.s32.s8.s8", numbered("d", 24) + ", a, b, 1"));
}

TEST_CASE("wgmma adds to sums that were written, or does not add") {
  const auto run_with = [](const char* adds) {
    LaunchConfig launch;
    launch.block[0] = 128;
    return run_body(std::string(R"(
  .reg .b32 d<4>; .reg .b64 desc;
  mov.u32 x, tile; mad.lo.u32 x, tid, 32, x;
  st.shared.v4.u32 [x], {0, 0, 0, 0}; st.shared.v4.u32 [x+16], {0, 0, 0, 0};
  fence.proxy.async;
  bar.sync 0;
  mov.u64 desc, 68719476736; // 256 bytes from group to group
  or.b64 desc, desc, 524352; // 128 from half to half, at 1024
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, desc, desc, )") +
                        adds + R"(, 1, 1, 0, 0;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, desc, desc, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;)",
                    launch, {}, ".shared .align 1024 .b8 tile[4096];\n")
        .result;
  };
  const RunResult set = run_with("0");
  CHECK_MESSAGE(set.findings.empty(), describe(set));
  const RunResult added = run_with("1");
  REQUIRE(added.findings.size() == 1);
  CHECK(added.findings[0].check == Check::operand_written);
}

TEST_CASE("wgmma at the later steps of k within an atom") {
  for (const uint32_t swizzle : {64U, 128U}) {
    for (uint32_t step = 1; step < swizzle / 32; ++step) {
      Case test;
      test.a_at.swizzle = test.b_at.swizzle = swizzle;
      test.a_at.step = test.b_at.step = step;
      check(test);
    }
  }
}

}  // namespace gemmtune::ptxsim::testing
