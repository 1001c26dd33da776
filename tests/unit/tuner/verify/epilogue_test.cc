// What verification makes of epilogues, and of results in another type than the operands'.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "computed_image.h"
#include "tuner/verify/epilogue_reference.h"

namespace gemmtune::tuner {
namespace {

constexpr Bias kBiases[] = {kNoBias, kBiasPerColumn, kBiasPerRow};
constexpr Activation kActivations[] = {kNoActivation, kRelu, kGeluTanh, kGeluErf, kSilu};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Types {
  DataType operands;
  DataType accumulator;
  std::optional<DataType> result;
};
const Types kTypes[] = {{DataType::f32, DataType::f32, {}},
                        {DataType::bf16, DataType::f32, {}},
                        {DataType::bf16, DataType::f32, DataType::f32},
                        {DataType::f16, DataType::f16, DataType::f32},
                        {DataType::f16, DataType::f32, {}}};

CaseKind kind_with(const Epilogue& epilogue, const Types& types, int vector_c = 1) {
  CaseKind kind;
  kind.traits.a_row_major = false;
  kind.traits.vector_c = vector_c;
  kind.traits.epilogue = epilogue;
  kind.type = types.operands;
  kind.accumulator = types.accumulator;
  kind.result = types.result;
  return kind;
}

// By the formulas as people write them down.
double naive(Activation activation, double x) {
  if (activation == kRelu) return std::fmax(x, 0.0);
  if (activation == kGeluTanh)
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  if (activation == kGeluErf) return x * std::erfc(-x / std::sqrt(2.0)) / 2;
  if (activation == kSilu) return x * (1 / (1 + std::exp(-x)));
  return x;
}

template <class Body>
void for_each_epilogue(const Body& body) {
  for (const Bias bias : kBiases) {
    for (const Activation activation : kActivations) body(Epilogue{bias, activation});
  }
}

// Of all cases of all kinds of epilogue, those whose operands are finite.
template <class Body>
void for_each_case(Effort effort, const Body& body) {
  for_each_epilogue([&](const Epilogue& epilogue) {
    for (const Types& types : kTypes) {
      for (const VerificationCase& test :
           verification_cases(kind_with(epilogue, types), {11, 9, 17}, effort)) {
        CAPTURE(key(test.problem));
        CAPTURE(test.name);
        body(test);
      }
    }
  });
}

// alpha * sum + beta * c of one element, and the sum of the magnitudes.
std::pair<double, double> naive_sum(const VerificationCase& test, const HostOperands& host,
                                    int64_t z, int64_t i, int64_t j) {
  const Problem& p = test.problem;
  double sum = 0;
  double magnitude = 0;
  for (int64_t l = 0; l < p.shape.k; ++l) {
    const double a = host.a[static_cast<size_t>(z * p.stride_a + l * p.lda + i)];
    const double b = host.b[static_cast<size_t>(z * p.stride_b + l * p.ldb + j)];
    sum += a * b;
    magnitude += std::abs(a * b);
  }
  const double old =
      test.beta == 0
          ? 0.0
          : test.beta * double{host.c[static_cast<size_t>(z * p.stride_c + i * p.ldc + j)]};
  return {test.alpha * sum + old, std::abs(test.alpha) * magnitude + std::abs(old)};
}

void check_reference(const VerificationCase& test) {
  const Problem& p = test.problem;
  const HostOperands host = make_operands(test);
  CHECK(static_cast<int64_t>(host.bias.size()) == bias_elements(p));
  for (const float value : host.bias) CHECK(rounded(value, result_type(p)) == value);
  size_t wrong = 0;
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      for (int64_t j = 0; j < p.shape.n; ++j) {
        const auto c = static_cast<size_t>(z * p.stride_c + i * p.ldc + j);
        auto [sum, magnitude] = naive_sum(test, host, z, i, j);
        if (p.epilogue.bias == kBiasPerColumn) sum += double{host.bias[static_cast<size_t>(j)]};
        if (p.epilogue.bias == kBiasPerRow) sum += double{host.bias[static_cast<size_t>(i)]};
        const double value = naive(p.epilogue.activation, sum);
        if (std::abs(host.before[c] - sum) > 1e-12 * magnitude) ++wrong;
        if (std::abs(host.expected[c] - value) > 1e-12 * (1 + std::abs(sum))) ++wrong;
        if (host.magnitude[c] + 1e-12 * magnitude < std::max(magnitude, std::abs(sum))) ++wrong;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the reference is that of a plain computation in fp64") {
  for_each_case(Effort::quick, [](const VerificationCase& test) {
    if (test.fill != Fill::special) check_reference(test);
  });
}

TEST_CASE("a case has its kind's epilogue and result type, and promises no more than its traits") {
  for_each_epilogue([](const Epilogue& epilogue) {
    for (const Types& types : kTypes) {
      for (const int vector_c : {1, 2, 4}) {
        const CaseKind kind = kind_with(epilogue, types, vector_c);
        for (const VerificationCase& test :
             verification_cases(kind, {37, 41, 19}, Effort::thorough)) {
          CAPTURE(key(test.problem));
          CHECK(validate(test.problem));
          CHECK(codegen::traits_for(test.problem) == kind.traits);
          CHECK(test.problem.result == kind.result);
          const CaseKind again = kind_of(test.problem);
          CHECK(again.traits == kind.traits);
          CHECK(again.result == kind.result);
        }
      }
    }
  });
}

TEST_CASE("an epilogue brings cases of its own") {
  const auto names = [](const Epilogue& epilogue) {
    std::string all;
    for (const VerificationCase& test :
         verification_cases(kind_with(epilogue, kTypes[0]), {11, 9, 17}, Effort::quick)) {
      all += test.name + (test.bias_shift != 0 ? "!;" : ";");
    }
    return all;
  };
  const std::string plain = names({});
  CHECK(plain.find("bias") == std::string::npos);
  CHECK(plain.find("activation") == std::string::npos);
  CHECK(names({kBiasPerRow, kNoActivation}) == plain + "bias past a 16-byte line!;");
  CHECK(names({kNoBias, kSilu}) ==
        plain + "activation of -0;saturated activation;saturated activation, negative;");
}

TEST_CASE("a correct result passes every case of every epilogue") {
  for_each_case(Effort::thorough, [](const VerificationCase& test) {
    const HostOperands host = make_operands(test);
    const Verdict verdict = judge(test, host, correct_image(test, host));
    CHECK_MESSAGE(verdict.correct(), verdict.detail);
  });
}

// A kernel with a fault in its epilogue, and the epilogues that it shows in.
struct Fault {
  const char* name;
  bool (*shows)(const Epilogue&);
  float (*finish)(const VerificationCase&, const HostOperands&, float, int64_t, int64_t);
};

const Fault kFaults[] = {
    {"bias twice", [](const Epilogue& e) { return e.bias != kNoBias; },
     [](const VerificationCase& test, const HostOperands& host, float sum, int64_t i, int64_t j) {
       const auto& [bias, activation, scale] = test.problem.epilogue;
       return activated_in_f32(activation, sum + 2 * bias_at(bias, host, i, j));
     }},
    {"bias left out", [](const Epilogue& e) { return e.bias != kNoBias; },
     [](const VerificationCase& test, const HostOperands&, float sum, int64_t, int64_t) {
       return activated_in_f32(test.problem.epilogue.activation, sum);
     }},
    {"row and column exchanged", [](const Epilogue& e) { return e.bias != kNoBias; },
     [](const VerificationCase& test, const HostOperands& host, float sum, int64_t i, int64_t j) {
       const auto& [bias, activation, scale] = test.problem.epilogue;
       const auto size = static_cast<int64_t>(host.bias.size());
       return activated_in_f32(activation, sum + bias_at(bias, host, j % size, i % size));
     }},
    {"bias of the next element", [](const Epilogue& e) { return e.bias != kNoBias; },
     [](const VerificationCase& test, const HostOperands& host, float sum, int64_t i, int64_t j) {
       const auto& [bias, activation, scale] = test.problem.epilogue;
       const auto size = static_cast<int64_t>(host.bias.size());
       return activated_in_f32(activation,
                               sum + bias_at(bias, host, (i + 1) % size, (j + 1) % size));
     }},
    {"activation before the bias",
     [](const Epilogue& e) { return e.bias != kNoBias && e.activation != kNoActivation; },
     [](const VerificationCase& test, const HostOperands& host, float sum, int64_t i, int64_t j) {
       const auto& [bias, activation, scale] = test.problem.epilogue;
       return activated_in_f32(activation, sum) + bias_at(bias, host, i, j);
     }},
    {"activation left out", [](const Epilogue& e) { return e.activation != kNoActivation; },
     [](const VerificationCase& test, const HostOperands& host, float sum, int64_t i, int64_t j) {
       return sum + bias_at(test.problem.epilogue.bias, host, i, j);
     }},
    {"activation twice",
     [](const Epilogue& e) { return e.activation != kNoActivation && e.activation != kRelu; },
     [](const VerificationCase& test, const HostOperands& host, float sum, int64_t i, int64_t j) {
       const auto& [bias, activation, scale] = test.problem.epilogue;
       return activated_in_f32(activation,
                               activated_in_f32(activation, sum + bias_at(bias, host, i, j)));
     }},
};

bool caught(const Fault& fault, const CaseKind& kind) {
  for (const VerificationCase& test : verification_cases(kind, {11, 9, 17}, Effort::quick)) {
    const HostOperands host = make_operands(test);
    const auto image = computed_image(test, host, [&](float sum, int64_t i, int64_t j) {
      return fault.finish(test, host, sum, i, j);
    });
    if (!judge(test, host, image).correct()) return true;
  }
  return false;
}

TEST_CASE("a fault in an epilogue is found by the quick cases") {
  for (const Fault& fault : kFaults) {
    for_each_epilogue([&](const Epilogue& epilogue) {
      if (!fault.shows(epilogue)) return;
      for (const Types& types : kTypes) {
        const CaseKind kind = kind_with(epilogue, types);
        CAPTURE(fault.name);
        CAPTURE(to_string(epilogue));
        CAPTURE(to_string(types.operands));
        CHECK(caught(fault, kind));
      }
    });
  }
}

TEST_CASE("GELU by tanh and by erf are told apart in f32, and so are results rounded to 16 bits") {
  const Fault other_gelu{
      "", nullptr,
      [](const VerificationCase& test, const HostOperands&, float sum, int64_t, int64_t) {
        return activated_in_f32(test.problem.epilogue.activation == kGeluErf ? kGeluTanh : kGeluErf,
                                sum);
      }};
  for (const Activation gelu : {kGeluErf, kGeluTanh})
    CHECK(caught(other_gelu, kind_with({kNoBias, gelu}, kTypes[0])));
  const Fault rounded_result{"", nullptr,
                             [](const VerificationCase& test, const HostOperands&, float sum,
                                int64_t, int64_t) { return rounded(sum, test.problem.type); }};
  CHECK(caught(rounded_result, kind_with({}, kTypes[2])));
}

// The bound for a sum that is as wrong as it may be, activated in f32.
TEST_CASE("the error bound covers an activation of a rounded sum") {
  std::mt19937 random(6);
  std::normal_distribution<double> normal(0, 3);
  for (const Activation activation : kActivations) {
    Problem problem = make_problem({1, 1, 64});
    const double bound_of_sum = error_bound(problem, 1, 0);
    problem.epilogue.activation = activation;
    for (int trial = 0; trial < 20000; ++trial) {
      const double x = normal(random);
      const double magnitude = 1 + std::abs(x);
      const double off = (trial % 2 == 0 ? 0.999 : -0.999) * bound_of_sum * magnitude;
      const double exact = activated(activation, x);
      const double bound = error_bound(problem, magnitude, exact);
      CHECK(std::abs(activated(activation, x + off) - exact) <= bound);
      const auto rounded_x = static_cast<float>(x);
      CHECK(std::abs(activated_in_f32(activation, rounded_x) - exact) <= bound);
      CHECK(bound < 2 * bound_of_sum * magnitude);
    }
  }
}

TEST_CASE("slopes: no activation is steeper than what its bound says") {
  for (const Activation activation : kActivations) {
    double steepest = 0;
    for (double x = -12; x < 12; x += 1e-3) {
      const double slope = (activated(activation, x + 1e-6) - activated(activation, x)) / 1e-6;
      steepest = std::max(steepest, std::abs(slope));
    }
    CHECK(steepest <= steepest_slope(activation) + 1e-6);
    CHECK(steepest > steepest_slope(activation) - 0.01);
  }
}

TEST_CASE("NaN and infinities go through activations as their formulas have it") {
  for (const Activation activation : kActivations) {
    CAPTURE(activation);
    CHECK(std::isnan(activated(activation, std::nan(""))));
    CHECK(activated(activation, kInfinity) == kInfinity);
    CHECK(activated(activation, -0.0) == 0);
    CHECK_FALSE(right_of_minus_infinity(activation, 1));
    CHECK_FALSE(right_of_minus_infinity(activation, kInfinity));
  }
  CHECK(activated(kRelu, -kInfinity) == 0);
  CHECK(right_of_minus_infinity(kNoActivation, -kInfinity));
  CHECK(right_of_minus_infinity(kRelu, 0));
  CHECK_FALSE(right_of_minus_infinity(kRelu, std::nan("")));
  for (const Activation activation : {kGeluTanh, kGeluErf, kSilu}) {
    CHECK(std::isnan(activated(activation, -kInfinity)));
    CHECK(right_of_minus_infinity(activation, std::nan("")));
    CHECK(right_of_minus_infinity(activation, -0.0));
    CHECK_FALSE(right_of_minus_infinity(activation, -kInfinity));
  }
}

TEST_CASE("a NaN that an activation swallows is found; what -infinity becomes is free") {
  for (const Activation activation : kActivations) {
    CAPTURE(activation);
    int nans = 0;
    int minus_infinities = 0;
    for (const VerificationCase& test : verification_cases(
             kind_with({kNoBias, activation}, kTypes[0]), {11, 9, 17}, Effort::quick)) {
      if (test.fill != Fill::special) continue;
      const HostOperands host = make_operands(test);
      const auto good = correct_image(test, host);
      for (size_t c = 0; c < host.c.size(); ++c) {
        auto zero = good;
        zero[c + kGuardElements] = 0;
        const bool passes = judge(test, host, zero).correct();
        if (std::isnan(host.before[c])) CHECK_FALSE(passes);
        if (host.before[c] == -kInfinity) CHECK(passes == (activation != kNoActivation));
        nans += std::isnan(host.before[c]) ? 1 : 0;
        minus_infinities += host.before[c] == -kInfinity ? 1 : 0;
      }
    }
    CHECK(nans > 0);
    CHECK(minus_infinities > 0);
  }
}

TEST_CASE("a result too large for its type may be infinite, one that fits may not") {
  VerificationCase test{"", make_problem({1, 1, 1}, DataType::f16), 1, 0, Fill::random, 1, 0};
  test.problem.epilogue = {kNoBias, kSilu};
  HostOperands host = make_operands(test);
  const auto judged = [&](double expected, float got) {
    host.before[0] = host.expected[0] = expected;
    host.magnitude[0] = std::abs(expected);
    auto image = guarded(host.c, DataType::f16);
    image[kGuardElements] = got;
    return judge(test, host, image).correct();
  };
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(judged(70000, infinite));
  CHECK_FALSE(judged(70000, -infinite));
  CHECK_FALSE(judged(60000, infinite));
  CHECK(judged(65519, 65504));
}

}  // namespace
}  // namespace gemmtune::tuner
