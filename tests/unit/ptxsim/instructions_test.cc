// Instructions against references written in another way: exhaustively where 16 bits are read, on
// edge and random values elsewhere.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "fixture.h"
#include "ptxsim/decode/half.h"

namespace gemmtune::ptxsim::testing {

namespace {

template <class T>
std::string register_of() {
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  return "b" + std::to_string(8 * sizeof(T));
}

// Runs "OPCODE d, a, b, c" on arrays: one element a thread.
template <class D, class A, class B = A, class C = A>
std::vector<D> execute(const std::string& instruction, const std::vector<A>& a,
                       const std::vector<B>& b = {}, const std::vector<C>& c = {}) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 d, .param .u64 a, .param .u64 b, .param .u64 c, "
      ".param .u32 n)\n{\n  .reg .b64 %at, %pd, %pa, %pb, %pc;\n  .reg .b32 %i, %n, %t;\n"
      "  .reg .pred %p, %q;\n"
      "  .reg ." +
      register_of<D>() + " %d;\n  .reg ." + register_of<A>() + " %a;\n  .reg ." + register_of<B>() +
      " %b;\n  .reg ." + register_of<C>() + " %c;\n" +
      "  ld.param.u64 %pd, [d];\n  ld.param.u64 %pa, [a];\n  ld.param.u64 %pb, [b];\n"
      "  ld.param.u64 %pc, [c];\n  ld.param.u32 %n, [n];\n"
      "  mov.u32 %i, %ctaid.x;\n  mov.u32 %t, %tid.x;\n  mad.lo.u32 %i, %i, 256, %t;\n"
      "  setp.ge.u32 %p, %i, %n;\n  @%p exit;\n"
      "  mad.wide.u32 %at, %i, " +
      std::to_string(sizeof(A)) + ", %pa;\n  ld.global." + register_of<A>() +
      " %a, [%at];\n  mad.wide.u32 %at, %i, " + std::to_string(sizeof(B)) + ", %pb;\n  ld.global." +
      register_of<B>() + " %b, [%at];\n  mad.wide.u32 %at, %i, " + std::to_string(sizeof(C)) +
      ", %pc;\n  ld.global." + register_of<C>() + " %c, [%at];\n  " + instruction +
      "\n  mad.wide.u32 %at, %i, " + std::to_string(sizeof(D)) + ", %pd;\n  st.global." +
      register_of<D>() + " [%at], %d;\n  ret;\n}\n";
  const Module module = parse_text(text);
  GlobalMemory memory;
  const Buffer<D> out(memory, a.size(), "d");
  const Buffer<A> in_a(memory, a, "a");
  const Buffer<B> in_b(memory, b.empty() ? std::vector<B>(a.size()) : b, "b");
  const Buffer<C> in_c(memory, c.empty() ? std::vector<C>(a.size()) : c, "c");
  LaunchConfig launch;
  launch.grid[0] = static_cast<uint32_t>((a.size() + 255) / 256);
  launch.block[0] = 256;
  const RunResult result =
      run_ok(module, "k", launch,
             {argument(out.address()), argument(in_a.address()), argument(in_b.address()),
              argument(in_c.address()), argument(static_cast<uint32_t>(a.size()))},
             memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  return out.get();
}

std::vector<uint16_t> all_halves() {
  std::vector<uint16_t> out(65536);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint16_t>(i);
  return out;
}

template <class T>
std::vector<T> integers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out = {T{0},
                        T{1},
                        static_cast<T>(-1),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::max(),
                        T{31},
                        T{32},
                        T{7}};
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = i % 3 == 0 ? out[random() % out.size()] : static_cast<T>(random());
  }
  return values;
}

std::vector<float> floats(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> out(count);
  for (float& value : out) {
    // Exponents near one another, now and then anything.
    const auto bits = static_cast<uint32_t>(random());
    value = random() % 4 == 0 ? float_of(bits)
                              : std::ldexp(static_cast<float>(static_cast<int32_t>(bits)),
                                           static_cast<int>(random() % 40) - 50);
  }
  return out;
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
    return a == b && std::signbit(a) == std::signbit(b);
  }
  return a == b;
}

template <class D, class F>
void check_all(const std::string& name, const std::vector<D>& got, F want) {
  size_t wrong = 0;
  size_t first = 0;
  for (size_t i = got.size(); i-- > 0;) {
    if (same(got[i], static_cast<D>(want(i)))) continue;
    ++wrong;
    first = i;
  }
  CAPTURE(name);
  CAPTURE(first);
  CHECK(wrong == 0);
}

// The nearest value of a format with `fraction` bits and least exponent `lowest`, ties to even, in
// long double: another way than half.h's.
long double round_to(long double x, int fraction, int lowest, long double largest) {
  if (x == 0 || std::isnan(x) || std::isinf(x)) return x;
  int exponent = std::ilogb(x);
  exponent = std::max(exponent, lowest);
  const long double unit = std::ldexp(1.0L, exponent - fraction);
  const long double rounded = std::nearbyint(x / unit) * unit;
  if (std::abs(rounded) > largest) return std::copysign(INFINITY, x);
  return rounded;
}
long double to_half_range(long double x) {
  return round_to(x, 10, -14, 65504.0L);
}
long double to_bfloat_range(long double x) {
  return round_to(x, 7, -126, std::ldexp(255.0L, 120));
}

}  // namespace

TEST_CASE("f16 and bf16 conversions, every value") {
  const std::vector<uint16_t> halves = all_halves();
  const std::vector<float> from_half = execute<float>("cvt.f32.f16 %d, %a;", halves);
  const std::vector<float> from_bfloat = execute<float>("cvt.f32.bf16 %d, %a;", halves);
  const std::vector<uint16_t> back = execute<uint16_t>("cvt.rn.f16.f32 %d, %a;", from_half);
  const std::vector<uint16_t> back_bfloat =
      execute<uint16_t>("cvt.rn.bf16.f32 %d, %a;", from_bfloat);
  size_t wrong = 0;
  for (size_t i = 0; i < halves.size(); ++i) {
    const int sign = i >> 15 != 0 ? -1 : 1;
    const auto exponent = static_cast<int>(i >> 10 & 31);
    const auto fraction = static_cast<float>(i & 1023);
    float want =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) want = fraction == 0 ? INFINITY : NAN;
    want = std::copysign(want, static_cast<float>(sign));
    wrong += same(from_half[i], want) ? 0 : 1;
    if (!std::isnan(want)) wrong += back[i] == halves[i] ? 0 : 1;
    if (!std::isnan(from_bfloat[i])) wrong += back_bfloat[i] == halves[i] ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("rounding f32 to 16 bits and tf32") {
  std::vector<float> values = floats(40000, 11);
  for (const uint16_t half : all_halves()) {  // the halfway points and their neighbours
    if (half % 16 != 0) continue;
    const uint32_t middle = bits_of(half_to_float(half)) + 0x1000;
    for (const uint32_t delta : {0U, 1U, ~0U}) values.push_back(float_of(middle + delta));
    values.push_back(float_of((uint32_t{half} << 16) + 0x8000));
    values.push_back(float_of((uint32_t{half} << 16) + 0x8001));
  }
  const auto half = execute<uint16_t>("cvt.rn.f16.f32 %d, %a;", values);
  check_all("f16", half, [&](size_t i) {
    return std::isnan(values[i]) ? 0x7FFF
                                 : float_to_half(static_cast<float>(to_half_range(values[i])));
  });
  std::vector<float> again(half.size());
  for (size_t i = 0; i < half.size(); ++i) again[i] = half_to_float(half[i]);
  check_all("f16 value", again,
            [&](size_t i) { return static_cast<float>(to_half_range(values[i])); });
  const auto bfloat = execute<uint16_t>("cvt.rn.bf16.f32 %d, %a;", values);
  for (size_t i = 0; i < half.size(); ++i) again[i] = bfloat_to_float(bfloat[i]);
  check_all("bf16", again,
            [&](size_t i) { return static_cast<float>(to_bfloat_range(values[i])); });
  const auto toward_zero = execute<uint16_t>("cvt.rz.f16.f32 %d, %a;", values);
  for (size_t i = 0; i < half.size(); ++i) again[i] = half_to_float(toward_zero[i]);
  size_t larger = 0;
  for (size_t i = 0; i < values.size(); ++i) larger += std::abs(again[i]) > std::abs(values[i]);
  CHECK(larger == 0);
}

// Too large numbers become the largest, in both types.
TEST_CASE("rounding pairs of f32 to 8 bits") {
  std::vector<float> values = floats(40000, 12);
  for (uint32_t bits = 0; bits < 256; ++bits) {
    for (const float value :
         {e4m3_value(static_cast<uint8_t>(bits)), e5m2_value(static_cast<uint8_t>(bits))}) {
      for (const float factor : {1.0F, 1.0625F, 1.125F, 1.1875F}) values.push_back(value * factor);
    }
  }
  for (const float large : {464.0F, 465.0F, 1e6F, INFINITY, -INFINITY, 61440.0F}) {
    values.push_back(large);
  }
  const std::vector<float> others(values.rbegin(), values.rend());
  const auto e4m3 = execute<uint16_t>("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", values, others);
  const auto e5m2 = execute<uint16_t>("cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;", values, others);
  const auto nearest = [](float x, int fraction, int lowest, long double largest) {
    const auto value = static_cast<float>(round_to(x, fraction, lowest, INFINITY));
    return std::isnan(x)
               ? x
               : std::clamp(value, -static_cast<float>(largest), static_cast<float>(largest));
  };
  std::vector<float> first(values.size());
  std::vector<float> second(values.size());
  const auto split = [&](const std::vector<uint16_t>& pairs, float (*value_of)(uint8_t)) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      first[i] = value_of(static_cast<uint8_t>(pairs[i] >> 8));
      second[i] = value_of(static_cast<uint8_t>(pairs[i]));
    }
  };
  split(e4m3, e4m3_value);
  check_all("e4m3 high", first, [&](size_t i) { return nearest(values[i], 3, -6, 448); });
  check_all("e4m3 low", second, [&](size_t i) { return nearest(others[i], 3, -6, 448); });
  split(e5m2, e5m2_value);
  check_all("e5m2 high", first, [&](size_t i) { return nearest(values[i], 2, -14, 57344); });
  check_all("e5m2 low", second, [&](size_t i) { return nearest(others[i], 2, -14, 57344); });
}

TEST_CASE("f16 and bf16 arithmetic rounds once") {
  std::mt19937_64 random(5);
  std::vector<uint16_t> a(60000);
  std::vector<uint16_t> b(a.size());
  std::vector<uint16_t> c(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<uint16_t>(random());
    b[i] = static_cast<uint16_t>(random());
    c[i] = static_cast<uint16_t>(random());
  }
  const auto values = [](const std::vector<uint16_t>& bits, float (*decode)(uint16_t)) {
    std::vector<float> out;
    out.reserve(bits.size());
    for (const uint16_t x : bits) out.push_back(decode(x));
    return out;
  };
  const std::vector<float> ha = values(a, half_to_float);
  const std::vector<float> hb = values(b, half_to_float);
  const std::vector<float> hc = values(c, half_to_float);
  const auto check_half = [&](const char* op, auto want) {
    check_all(op, values(execute<uint16_t>(op, a, b, c), half_to_float), [&](size_t i) {
      return static_cast<float>(to_half_range(want(ha[i], hb[i], hc[i])));
    });
  };
  using L = long double;
  check_half("add.f16 %d, %a, %b;", [](L x, L y, L) { return x + y; });
  check_half("sub.f16 %d, %a, %b;", [](L x, L y, L) { return x - y; });
  check_half("mul.f16 %d, %a, %b;", [](L x, L y, L) { return x * y; });
  check_half("fma.rn.f16 %d, %a, %b, %c;", [](L x, L y, L z) { return x * y + z; });
  // bf16 sums may need more than a long double has: keep the exponents near.
  for (auto* bits : {&a, &b, &c}) {
    for (uint16_t& x : *bits) x = static_cast<uint16_t>((x & 0x87FF) | 0x3C00);
  }
  const std::vector<float> ba = values(a, bfloat_to_float);
  const std::vector<float> bb = values(b, bfloat_to_float);
  const std::vector<float> bc = values(c, bfloat_to_float);
  check_all(
      "fma.bf16",
      values(execute<uint16_t>("fma.rn.bf16 %d, %a, %b, %c;", a, b, c), bfloat_to_float),
      [&](size_t i) { return static_cast<float>(to_bfloat_range(L{ba[i]} * bb[i] + bc[i])); });
}

TEST_CASE("a bf16 fma whose product is a tie is decided by a tiny addend") {
  // 1.0078125 * 1.5 = 1.51171875: halfway between two bf16; the addend breaks the tie.
  const std::vector<uint16_t> a(2, 0x3F81);
  const std::vector<uint16_t> b(2, 0x3FC0);
  const std::vector<uint16_t> c = {0x0080, 0x8080};  // +- 2^-126
  const auto got = execute<uint16_t>("fma.rn.bf16 %d, %a, %b, %c;", a, b, c);
  CHECK(got[0] == got[1] + 1);
}

TEST_CASE("f32 arithmetic") {
  const std::vector<float> a = floats(20000, 1);
  const std::vector<float> b = floats(20000, 2);
  const std::vector<float> c = floats(20000, 3);
  const auto check = [&](const char* op, auto want) {
    check_all(op, execute<float>(op, a, b, c), [&](size_t i) { return want(a[i], b[i], c[i]); });
  };
  check("add.f32 %d, %a, %b;", [](float x, float y, float) { return x + y; });
  check("sub.f32 %d, %a, %b;", [](float x, float y, float) { return x - y; });
  check("mul.f32 %d, %a, %b;", [](float x, float y, float) { return x * y; });
  check("div.rn.f32 %d, %a, %b;", [](float x, float y, float) { return x / y; });
  check("fma.rn.f32 %d, %a, %b, %c;", [](float x, float y, float z) { return std::fma(x, y, z); });
  // std::fmin gives NaN for a signalling NaN.
  check("min.f32 %d, %a, %b;", [](float x, float y, float) {
    return x != x ? y : y != y ? x : std::min(x, y);
  });
  check("max.f32 %d, %a, %b;", [](float x, float y, float) {
    return x != x ? y : y != y ? x : std::max(x, y);
  });
  check("neg.f32 %d, %a;", [](float x, float, float) { return -x; });
  check("abs.f32 %d, %a;", [](float x, float, float) { return std::fabs(x); });
  check("sqrt.rn.f32 %d, %a;", [](float x, float, float) { return std::sqrt(x); });
  const auto directed = [&](const char* op, int mode, auto want) {
    check_all(op, execute<float>(op, a, b, c), [&](size_t i) {
      std::fesetround(mode);
      volatile float x = a[i];
      volatile float y = b[i];
      volatile float r = want(x, y);
      std::fesetround(FE_TONEAREST);
      return float{r};
    });
  };
  directed("add.rz.f32 %d, %a, %b;", FE_TOWARDZERO, [](float x, float y) { return x + y; });
  directed("mul.rm.f32 %d, %a, %b;", FE_DOWNWARD, [](float x, float y) { return x * y; });
  directed("div.rp.f32 %d, %a, %b;", FE_UPWARD, [](float x, float y) { return x / y; });
  const auto flushed = execute<float>("mul.ftz.f32 %d, %a, %b;", a, b);
  size_t subnormal = 0;
  for (const float value : flushed) subnormal += std::fpclassify(value) == FP_SUBNORMAL ? 1 : 0;
  CHECK(subnormal == 0);
}

TEST_CASE("integer arithmetic") {
  const auto a = integers<int32_t>(20000, 1);
  const auto b = integers<int32_t>(20000, 2);
  const auto c = integers<int32_t>(20000, 3);
  const auto u = [](int64_t x) { return static_cast<uint32_t>(x); };
  const auto check = [&](const char* op, auto want) {
    check_all(op, execute<int32_t>(op, a, b, c),
              [&](size_t i) { return static_cast<int32_t>(want(a[i], b[i], c[i])); });
  };
  using I = int64_t;
  check("add.s32 %d, %a, %b;", [](I x, I y, I) { return x + y; });
  check("mul.lo.s32 %d, %a, %b;", [](I x, I y, I) { return x * y; });
  check("mul.hi.s32 %d, %a, %b;", [](I x, I y, I) { return (x * y) >> 32; });
  check("mul.hi.u32 %d, %a, %b;", [&](I x, I y, I) { return (uint64_t{u(x)} * u(y)) >> 32; });
  check("mad.lo.s32 %d, %a, %b, %c;", [&](I x, I y, I z) { return u(x) * u(y) + u(z); });
  check("div.s32 %d, %a, %b;", [](I x, I y, I) { return y == 0 ? -1 : x / y; });
  check("rem.s32 %d, %a, %b;", [](I x, I y, I) { return y == 0 ? -1 : x % y; });
  check("div.u32 %d, %a, %b;", [&](I x, I y, I) { return y == 0 ? I{-1} : I{u(x) / u(y)}; });
  check("min.u32 %d, %a, %b;", [&](I x, I y, I) { return std::min(u(x), u(y)); });
  check("sad.s32 %d, %a, %b, %c;", [](I x, I y, I z) { return z + std::abs(x - y); });
  check("add.sat.s32 %d, %a, %b;",
        [](I x, I y, I) { return std::clamp<I>(x + y, INT32_MIN, INT32_MAX); });
  check("shl.b32 %d, %a, %b;", [&](I x, I y, I) { return u(y) > 31 ? 0 : u(x) << u(y); });
  check("shr.s32 %d, %a, %b;", [&](I x, I y, I) { return x >> std::min(u(y), 31U); });
  check("shr.u32 %d, %a, %b;", [&](I x, I y, I) { return u(y) > 31 ? 0 : u(x) >> u(y); });
  check("shf.r.wrap.b32 %d, %a, %b, %c;", [&](I x, I y, I z) {
    const uint64_t both = uint64_t{u(y)} << 32 | u(x);
    return static_cast<uint32_t>(both >> (u(z) % 32));
  });
  check("popc.b32 %d, %a;", [&](I x, I, I) { return __builtin_popcount(u(x)); });
  check("clz.b32 %d, %a;", [&](I x, I, I) { return u(x) == 0 ? 32 : __builtin_clz(u(x)); });
  check("prmt.b32 %d, %a, %b, %c;", [&](I x, I y, I z) {
    const uint32_t words[2] = {u(x), u(y)};
    uint8_t bytes[8];
    std::memcpy(bytes, words, 8);
    uint32_t out = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t select = u(z) >> (4 * i) & 15;
      uint32_t byte = bytes[select & 7];
      if ((select & 8) != 0) byte = byte >= 128 ? 255 : 0;
      out |= byte << (8 * i);
    }
    return out;
  });
  check("lop3.b32 %d, %a, %b, %c, 0xCA;", [](I x, I y, I z) { return (x & y) | (~x & z); });
  check("bfe.s32 %d, %a, 5, 9;", [&](I x, I, I) { return static_cast<int32_t>(u(x) << 18) >> 23; });
  check("add.cc.u32 %t, %a, %b; addc.u32 %d, %c, 0;",
        [&](I x, I y, I z) { return u(z) + static_cast<uint32_t>((uint64_t{u(x)} + u(y)) >> 32); });
}

TEST_CASE("conversions between floats and integers saturate") {
  std::vector<float> a = floats(20000, 4);
  for (const float edge : {2147483648.0F, -2147483648.0F, 4294967296.0F, 0.5F, 1.5F, 2.5F, -0.5F,
                           -1.5F, 255.5F, 1e30F, -1e30F, INFINITY, -INFINITY, NAN}) {
    a.push_back(edge);
  }
  const auto clamp = [](long double x, long double low, long double high) {
    return std::isnan(x) ? 0.0L : std::clamp(x, low, high);
  };
  check_all("rzi.s32", execute<int32_t>("cvt.rzi.s32.f32 %d, %a;", a), [&](size_t i) {
    return static_cast<int32_t>(clamp(std::trunc(a[i]), INT32_MIN, INT32_MAX));
  });
  check_all("rni.u32", execute<uint32_t>("cvt.rni.u32.f32 %d, %a;", a), [&](size_t i) {
    return static_cast<uint32_t>(clamp(std::nearbyint(a[i]), 0, UINT32_MAX));
  });
  check_all("rmi.s64", execute<int64_t>("cvt.rmi.s64.f32 %d, %a;", a), [&](size_t i) {
    // PTX ISA: NaN to 64 bits is the top bit, not 0.
    if (std::isnan(a[i])) return INT64_MIN;
    return static_cast<int64_t>(clamp(std::floor(a[i]), INT64_MIN, INT64_MAX));
  });
  const auto wide = integers<int64_t>(20000, 6);
  check_all("f32.s64", execute<float>("cvt.rn.f32.s64 %d, %a;", wide),
            [&](size_t i) { return static_cast<float>(wide[i]); });
  check_all("f32.u64", execute<float>("cvt.rn.f32.u64 %d, %a;", wide),
            [&](size_t i) { return static_cast<float>(static_cast<uint64_t>(wide[i])); });
  check_all("sat.s8", execute<int16_t>("cvt.sat.s8.s64 %d, %a;", wide), [&](size_t i) {
    return static_cast<int16_t>(std::clamp<int64_t>(wide[i], -128, 127));
  });
}

TEST_CASE("comparisons with NaN") {
  const std::vector<float> a = {1, 2, NAN, 1, NAN, -0.0F};
  const std::vector<float> b = {1, 1, 1, NAN, NAN, 0.0F};
  const auto check = [&](const std::string& op, const std::vector<uint32_t>& want) {
    CAPTURE(op);
    CHECK(execute<uint32_t>("setp." + op + ".f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", a, b) ==
          want);
  };
  check("eq", {1, 0, 0, 0, 0, 1});
  check("ne", {0, 1, 0, 0, 0, 0});
  check("neu", {0, 1, 1, 1, 1, 0});
  check("equ", {1, 0, 1, 1, 1, 1});
  check("gt", {0, 1, 0, 0, 0, 0});
  check("leu", {1, 0, 1, 1, 1, 1});
  check("num", {1, 1, 0, 0, 0, 1});
  check("nan", {0, 0, 1, 1, 1, 0});
}

}  // namespace gemmtune::ptxsim::testing
