#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "computed_image.h"
#include "core/elements.h"
#include "tuner/verify/accuracy.h"

namespace gemmtune::tuner {
namespace {

std::vector<CaseKind> some_kinds() {
  std::vector<CaseKind> all;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int va : {1, 4}) {
        for (const int vb : {1, 2, 4}) all.push_back({{a, b, va, vb, va, {}}});
      }
      for (const DataType type : {DataType::f16, DataType::bf16}) {
        all.push_back({{a, b, 8, 8, 8, {}}, type, DataType::f32});
        all.push_back({{a, b, 4, 1, 2, {}}, type, DataType::f32});
      }
      all.push_back({{a, b, 2, 8, 1, {}}, DataType::f16, DataType::f16});
    }
  }
  for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
    all.push_back({{true, false, 16, 16, 8, {}}, type, DataType::f32});
    all.push_back({{true, false, 1, 4, 1, {}}, type, DataType::f32, MathMode::fast_accum});
    all.push_back(
        {{true, false, 2, 16, 4, {}}, type, DataType::f32, MathMode::ieee, DataType::f32});
    all.push_back({{true, false, 8, 1, 2, {}}, type, DataType::f32, MathMode::ieee, DataType::f16});
    for (const Scale scale :
         {kScalePerTensor, kScalePerRow, kScale1x128, kScale1x128By128x128, kScale128x128By1x128}) {
      const Epilogue epilogue{kBiasPerColumn, kNoActivation, scale};
      all.push_back({{true, false, 16, 16, 8, epilogue}, type, DataType::f32});
    }
  }
  return all;
}

TEST_CASE("the operands of a case promise exactly what its traits say") {
  for (const CaseKind& kind : some_kinds()) {
    for (const VerificationCase& test : verification_cases(kind, {37, 41, 19}, Effort::thorough)) {
      CAPTURE(key(test.problem));
      CHECK(validate(test.problem).has_value());
      CHECK(codegen::traits_for(test.problem) == kind.traits);
      CHECK(test.problem.type == kind.type);
      CHECK(test.problem.accumulator == kind.accumulator);
    }
  }
}

TEST_CASE("a correct result passes every case") {
  for (const CaseKind& kind : some_kinds()) {
    for (const VerificationCase& test : verification_cases(kind, {21, 18, 35}, Effort::thorough)) {
      const HostOperands host = make_operands(test);
      const Verdict verdict = judge(test, host, correct_image(test, host));
      CHECK_MESSAGE(verdict.correct(), verdict.detail);
    }
  }
}

TEST_CASE("scales that are left out, or of another row, column or part of k, are found") {
  using Wrong = std::function<ScaleIndex(const Problem&, int64_t, int64_t, int64_t)>;
  const auto found = [](Scale scale, const Wrong& wrong) {
    const CaseKind kind{
        {true, false, 16, 16, 8, {kNoBias, kNoActivation, scale}}, DataType::e4m3, DataType::f32};
    const auto cases = verification_cases(kind, {137, 146, 290}, Effort::quick);
    return std::any_of(cases.begin(), cases.end(), [&](const VerificationCase& test) {
      const HostOperands host = make_operands(test);
      const auto at = [](const std::vector<float>& scales, int64_t i) {
        return i < 0 ? 1.0F : scales[static_cast<size_t>(i) % scales.size()];
      };
      const auto image = computed_image(
          test, host, right_finish(test, host), [&](int64_t i, int64_t j, int64_t l) {
            const ScaleIndex index = wrong(test.problem, i, j, l);
            return at(host.scale_a, index.a) * at(host.scale_b, index.b);
          });
      return !judge(test, host, image).correct();
    });
  };
  constexpr int64_t kLeftOut = -1;
  constexpr Scale kBlocks[] = {kScale1x128, kScale1x128By128x128, kScale128x128By1x128};
  const auto right = [](const Problem& p, int64_t i, int64_t j, int64_t l) {
    return scale_index(p, i, j, l);
  };
  const auto only_a = [](const Problem& p, int64_t i, int64_t j, int64_t l) {
    return ScaleIndex{scale_index(p, i, j, l).a, kLeftOut};
  };
  const auto only_b = [](const Problem& p, int64_t i, int64_t j, int64_t l) {
    return ScaleIndex{kLeftOut, scale_index(p, i, j, l).b};
  };
  for (const Scale scale :
       {kScalePerTensor, kScalePerRow, kScale1x128, kScale1x128By128x128, kScale128x128By1x128}) {
    CAPTURE(to_string(Epilogue{kNoBias, kNoActivation, scale}));
    CHECK_FALSE(found(scale, right));
    CHECK(found(scale, only_a));
    CHECK(found(scale, only_b));
  }
  for (const Scale scale : {kScalePerRow, kScale1x128}) {
    CHECK(found(scale, [](const Problem& p, int64_t i, int64_t j, int64_t l) {
      return scale_index(p, (i + 1) % p.shape.m, j, l);
    }));
    CHECK(found(scale, [](const Problem& p, int64_t i, int64_t j, int64_t l) {
      return scale_index(p, i, (j + 8) % p.shape.n, l);
    }));
  }
  for (const Scale scale : kBlocks) {
    CHECK(found(scale, [](const Problem& p, int64_t i, int64_t j, int64_t l) {
      return scale_index(p, i, j, l >= 128 ? l - 128 : l);
    }));
  }
  CHECK(found(kScale1x128By128x128, [](const Problem& p, int64_t i, int64_t, int64_t l) {
    return scale_index(p, i, 0, l);
  }));
  CHECK(found(kScale128x128By1x128, [](const Problem& p, int64_t, int64_t j, int64_t l) {
    return scale_index(p, 0, j, l);
  }));
}

TEST_CASE("scales that are there for whole units only are in no result") {
  const CaseKind kind{{true, false, 16, 16, 8, {kNoBias, kNoActivation, kScale1x128By128x128}},
                      DataType::e4m3,
                      DataType::f32};
  const auto cases = verification_cases(kind, {21, 146, 290}, Effort::quick);
  const HostOperands host = make_operands(cases.front());
  const Problem& p = cases.front().problem;
  for (int64_t i = 0; i < block_scales_of_a(p).stride(); ++i)
    CHECK(std::isnan(host.scale_a[static_cast<size_t>(i)]) == (i >= p.shape.m));
  for (int64_t i = 0; i < block_scales_of_b(p).stride(); ++i)
    CHECK(std::isnan(host.scale_b[static_cast<size_t>(i)]) == (i >= 3));
}

TEST_CASE("every kind of damage is found, wherever it is") {
  std::mt19937 random(2);
  std::vector<VerificationCase> cases;
  for (const CaseKind& kind : {CaseKind{}, CaseKind{{}, DataType::f16, DataType::f16},
                               CaseKind{{}, DataType::bf16, DataType::f32}}) {
    for (VerificationCase& test : verification_cases(kind, {21, 18, 35}, Effort::quick))
      cases.push_back(std::move(test));
  }
  for (const VerificationCase& test : cases) {
    const HostOperands host = make_operands(test);
    const std::vector<float> good = correct_image(test, host);
    const Problem& p = test.problem;
    for (int trial = 0; trial < 50; ++trial) {
      const auto pick = [&](int64_t n) {
        return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
      };
      const auto inside = static_cast<size_t>(pick(p.batch) * p.stride_c + pick(p.shape.m) * p.ldc +
                                              pick(p.shape.n));
      if (!std::isfinite(host.expected[inside])) continue;

      std::vector<float> wrong = good;
      // The next number of the type but for rounded sums, where less than a product is lost.
      float& value = wrong[inside + kGuardElements];
      const float step = std::max(1.0F, std::abs(value) / 64);
      value += test.fill == Fill::small_integers
                   ? step
                   : static_cast<float>(
                         3 * error_bound(p, host.magnitude[inside], host.expected[inside]));
      CHECK(judge(test, host, wrong).kind == VerdictKind::wrong_result);

      if (test.beta == 0) {
        std::vector<float> unwritten = good;
        unwritten[inside + kGuardElements] = host.c[inside];
        CHECK(judge(test, host, unwritten).kind == VerdictKind::unwritten);
      }
      std::vector<float> before = good;
      before[static_cast<size_t>(pick(kGuardElements))] = 1.0F;
      CHECK(judge(test, host, before).kind == VerdictKind::out_of_bounds);
      std::vector<float> behind = good;
      behind[behind.size() - 1 - static_cast<size_t>(pick(kGuardElements))] = std::nanf("");
      CHECK(judge(test, host, behind).kind == VerdictKind::out_of_bounds);
      if (p.ldc > p.shape.n) {
        std::vector<float> padding = good;
        padding[static_cast<size_t>(p.shape.n + kGuardElements)] = 0.0F;
        CHECK(judge(test, host, padding).kind == VerdictKind::out_of_bounds);
      }
    }
  }
}

TEST_CASE("a NaN that should have reached C is missed by no case") {
  const auto cases = verification_cases(CaseKind{}, {21, 18, 35}, Effort::quick);
  int specials = 0;
  for (const VerificationCase& test : cases) {
    if (test.fill != Fill::special) continue;
    ++specials;
    const HostOperands host = make_operands(test);
    std::vector<float> image = correct_image(test, host);
    int swallowed = 0;
    for (size_t i = 0; i < host.expected.size(); ++i) {
      if (!std::isnan(host.expected[i]) || !std::isnan(image[i + kGuardElements])) continue;
      std::vector<float> finite = image;
      finite[i + kGuardElements] = 0.0F;
      swallowed += judge(test, host, finite).correct() ? 1 : 0;
    }
    CHECK(swallowed == 0);
  }
  CHECK(specials == 1);
}

// Integers stay exact whatever the order of a sum: for sums in f16 within 2048.
TEST_CASE("small integers are exact in the accumulator") {
  for (const int64_t k : {3, 77, 131, 1000}) {
    for (const DataType accumulator : {DataType::f32, DataType::f16}) {
      const auto cases =
          verification_cases({{}, DataType::f16, accumulator}, {9, 8, k}, Effort::quick);
      const HostOperands host = make_operands(cases.front());
      REQUIRE(cases.front().fill == Fill::small_integers);
      const double most = accumulator == DataType::f16 ? 2048 : 16777216;
      bool any = false;
      for (const double magnitude : host.magnitude) {
        CHECK(magnitude <= most);
        any = any || magnitude > 0;
      }
      CHECK(any);
    }
  }
}

// Tensor cores cut sums of 8-bit products off after 13 bits.
TEST_CASE("small integers of 8 bits are exact until they are promoted") {
  for (const int64_t k : {3, 131, 1000, 8192}) {
    for (const MathMode math : {MathMode::ieee, MathMode::fast_accum}) {
      const CaseKind kind{{true, false, 1, 1, 1, {}}, DataType::e5m2, DataType::f32, math};
      const auto cases = verification_cases(kind, {3, 2, k}, Effort::quick);
      const HostOperands host = make_operands(cases.front());
      const auto most = [](const std::vector<float>& values) {
        float largest = 0;
        for (const float value : values)
          if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
        return static_cast<double>(largest);
      };
      const auto summed =
          static_cast<double>(math == MathMode::ieee ? std::min<int64_t>(k, 128) : k);
      CHECK(most(host.a) * most(host.b) * summed <= 8192);
      CHECK(most(host.a) > 0);
      CHECK(encode(host.a, DataType::e4m3).size() == host.a.size());
      CHECK(decode(encode(host.b, DataType::e5m2), DataType::e5m2).size() == host.b.size());
    }
  }
}

// As Hopper computes one instruction of 32 products: all terms are cut off at 13 bits behind the
// largest one's first.
double cut_off_sum(double sum, const std::vector<double>& products, size_t first) {
  double largest = std::abs(sum);
  for (size_t i = first; i < first + 32; ++i) largest = std::max(largest, std::abs(products[i]));
  if (largest == 0) return sum;
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 13);
  double out = std::trunc(sum / unit);
  for (size_t i = first; i < first + 32; ++i) out += std::trunc(products[i] / unit);
  return out * unit;
}

TEST_CASE("the error bound covers sums of 8-bit products that are cut off") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const MathMode math : {MathMode::ieee, MathMode::fast_accum}) {
    for (const size_t k : {32, 128, 1024, 8192}) {
      Problem problem =
          make_problem({1, 1, static_cast<int64_t>(k)}, DataType::e4m3, *parse_layout("tnt"));
      problem.math = math;
      problem.result = DataType::f32;
      double worst = 0;  // share of the bound
      for (int trial = 0; trial < 50; ++trial) {
        std::vector<double> products(k);
        double exact = 0;
        double magnitude = 0;
        for (double& product : products) {
          product = static_cast<double>(rounded(uniform(random), DataType::e4m3)) *
                    static_cast<double>(rounded(uniform(random), DataType::e4m3));
          exact += product;
          magnitude += std::abs(product);
        }
        double sum = 0;
        double part = 0;
        for (size_t i = 0; i < k; i += 32) {
          part = cut_off_sum(part, products, i);
          if (math == MathMode::fast_accum || (i + 32) % 128 != 0) continue;
          sum += part;
          part = 0;
        }
        sum += part;
        worst = std::max(worst, std::abs(sum - exact) / error_bound(problem, magnitude, exact));
      }
      CAPTURE(k);
      CAPTURE(worst);
      CHECK(worst < 0.5);
      CHECK(worst > 0.001);
    }
  }
}

// The bound has to hold for sums in any order and still catch one lost product.
TEST_CASE("the error bound separates rounding from a lost product") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const int k : {1, 8, 77, 1024, 8192}) {
    const Problem problem = make_problem({1, 1, k});
    for (int trial = 0; trial < 20; ++trial) {
      float sum = 0;
      double exact = 0;
      double magnitude = 0;
      for (int i = 0; i < k; ++i) {
        const float a = uniform(random);
        const float b = uniform(random);
        sum = std::fma(a, b, sum);
        exact += static_cast<double>(a) * b;
        magnitude += std::abs(static_cast<double>(a) * b);
      }
      CHECK(std::abs(sum - exact) <= error_bound(problem, magnitude, exact));
      CHECK(error_bound(problem, magnitude, exact) < 0.25);
    }
  }
}

TEST_CASE("f32 kernels may have twice cuBLASLt's error, on the tensor cores as much as it has") {
  Problem problem = make_problem({64, 64, 64});
  CHECK_FALSE(too_inaccurate(problem, 2e-8, 1e-8));
  const auto reason = too_inaccurate(problem, 2.5e-8, 1e-8);
  REQUIRE(reason);
  CHECK(reason->find("2.50e-08") != std::string::npos);
  CHECK(reason->find("more than 2 times cuBLASLt's 1.00e-08") != std::string::npos);
  CHECK(too_inaccurate(problem, std::nan(""), 1e-8));
  CHECK_FALSE(too_inaccurate(problem, 1, std::nullopt));
  CHECK_FALSE(too_inaccurate(problem, 1e-8, 0));
  // Of the least accurate algorithm that a caller may get.
  CHECK(held_against_all(problem));
  for (const MathMode math : {MathMode::tf32x3, MathMode::bf16x6, MathMode::bf16x9}) {
    problem.math = math;
    CHECK_FALSE(held_against_all(problem));
    CHECK_FALSE(too_inaccurate(problem, 1e-8, 1e-8));
    const auto above = too_inaccurate(problem, 1.1e-8, 1e-8);
    REQUIRE(above);
    CHECK(above->find("more than cuBLASLt's 1.00e-08") != std::string::npos);
  }
  // Asked for, and less accurate than f32 by their nature.
  for (const MathMode math : {MathMode::tf32, MathMode::f16}) {
    problem.math = math;
    CHECK_FALSE(too_inaccurate(problem, 1e-5, 1e-8));
  }
  CHECK_FALSE(too_inaccurate(make_problem({64, 64, 64}, DataType::f16), 1e-3, 1e-4));
}

// Operands of any size that a case may have, also those that f16 has few or no digits for.
TEST_CASE("the error bound covers operands rounded to f16, and no lost product") {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const int k : {1, 8, 77, 1024}) {
    Problem problem = make_problem({1, 1, k});
    problem.math = MathMode::f16;
    for (int trial = 0; trial < 60; ++trial) {
      const float scale = trial % 3 == 0 ? 1.0F : 1e-6F;
      float sum = 0;
      double exact = 0;
      double magnitude = 0;
      for (int i = 0; i < k; ++i) {
        const float a = uniform(random) * scale;
        const float b = uniform(random);
        sum = std::fma(rounded(a, DataType::f16), rounded(b, DataType::f16), sum);
        exact += static_cast<double>(a) * b;
        magnitude += std::abs(static_cast<double>(a) * b);
      }
      CHECK(std::abs(sum - exact) <= error_bound(problem, magnitude, exact));
      CHECK(error_bound(problem, magnitude, exact) < 0.75);
    }
  }
}

// Else a kernel that computes nothing would pass: an element of a product of k terms is some
// magnitude / sqrt(k).
TEST_CASE("sums in f16 are not taken for right because they are small") {
  Problem problem = make_problem({64, 64, 64}, DataType::f16);
  problem.accumulator = DataType::f16;
  for (const int64_t k : {77, 1024, 4096}) {
    problem.shape.k = k;
    pack(problem);
    const double magnitude = 0.25 * static_cast<double>(k);
    CHECK(error_bound(problem, magnitude, 0) < magnitude / std::sqrt(static_cast<double>(k)));
    // What one after the other loses at most.
    CHECK(error_bound(problem, magnitude, 0) > 5 * 2.8 * magnitude / 2048);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
