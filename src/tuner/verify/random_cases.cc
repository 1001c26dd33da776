#include "tuner/verify/random_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace gemmtune::tuner {
namespace {

using Random = std::mt19937_64;

// least to most, both included.
int64_t number(Random& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

bool one_in(Random& random, int64_t count) {
  return number(random, 1, count) == 1;
}

template <class Value>
Value one_of(Random& random, std::initializer_list<Value> values) {
  return values.begin()[number(random, 0, static_cast<int64_t>(values.size()) - 1)];
}

// Elements in an access: half of the time as many as there may be.
int width(Random& random, DataType type) {
  int widest = kWidestAccessBytes / size_bytes(type);
  if (one_in(random, 2)) return widest;
  while (widest > 1 && one_in(random, 2)) widest /= 2;
  return widest;
}

Epilogue epilogue(Random& random) {
  if (one_in(random, 2)) return {};
  return {one_of(random, {kNoBias, kBiasPerColumn, kBiasPerRow}),
          one_of(random, {kNoActivation, kRelu, kGeluTanh, kGeluErf, kSilu})};
}

Scale scale(MathMode math, Random& random) {
  const Scale block = one_of(random, {kScale1x128, kScale1x128By128x128, kScale128x128By1x128});
  const Scale other = one_of(random, {kNoScale, kScalePerTensor, kScalePerRow});
  return math == MathMode::ieee && one_in(random, 3) ? block : other;
}

// May be of types that do not go together.
CaseKind random_kind(Random& random) {
  CaseKind kind;
  kind.type = one_of(random, {DataType::f32, DataType::f16, DataType::bf16, DataType::e4m3,
                              DataType::e5m2, DataType::i8});
  kind.accumulator = usual_accumulator(kind.type);
  if (kind.type == DataType::f32) {
    kind.math = one_of(random, {MathMode::ieee, MathMode::ieee, MathMode::tf32, MathMode::tf32x3,
                                MathMode::f16, MathMode::bf16x6, MathMode::bf16x9});
  } else if (kind.type != DataType::i8 && one_in(random, 4)) {
    kind.result = DataType::f32;
  }
  if (is_fp8(kind.type)) {
    if (one_in(random, 4)) kind.result = DataType::f16;
    kind.math = one_of(random, {MathMode::ieee, MathMode::fast_accum});
  }
  if (kind.type == DataType::f16 && one_in(random, 3)) kind.accumulator = DataType::f16;
  kind.traits = {one_in(random, 2),
                 one_in(random, 2),
                 width(random, kind.type),
                 width(random, kind.type),
                 width(random, kind.result.value_or(usual_result(kind.type))),
                 kind.type == DataType::i8 ? Epilogue{} : epilogue(random)};
  if (is_fp8(kind.type)) kind.traits.epilogue.scale = scale(kind.math, random);
  return kind;
}

// 1 to `most`; sometimes a few, sometimes all of it.
int64_t random_size(Random& random, int64_t most) {
  if (one_in(random, 8)) return number(random, 1, 8);
  if (one_in(random, 8)) return most;
  return number(random, 1, most);
}

constexpr std::string_view name_of(Fill fill) {
  switch (fill) {
    case Fill::small_integers:
      return "integers";
    case Fill::random:
      return "random";
    case Fill::special:
      break;
  }
  return "NaN and Inf";
}

VerificationCase random_case(const CaseKind& kind, const CaseSizes& most, Random& random) {
  VerificationCase test;
  test.fill = one_of(random, {Fill::small_integers, Fill::small_integers, Fill::random,
                              Fill::random, Fill::special});
  const CaseSizes sizes = {random_size(random, most.m), random_size(random, most.n),
                           random_size(random, most.k)};
  const int64_t padding = one_in(random, 2) ? 0 : number(random, 1, 17);
  test.problem = case_problem(kind, sizes, padding, one_in(random, 6) ? number(random, 2, 3) : 1);
  // A batch may share one A or one B, whose stride is 0.
  if (one_in(random, 4)) test.problem.stride_a = 0;
  if (one_in(random, 4)) test.problem.stride_b = 0;
  // Multiples of 1/2, or whole as i8 products take them: integers stay exact.
  const float half = kind.type == DataType::i8 ? 3.0F : 0.5F;
  test.alpha = one_of(random, {1.0F, 1.0F, -2.0F, half, 0.0F, -0.0F});
  test.beta = one_of(random, {0.0F, 0.0F, 1.0F, -half, 2.0F});
  test.seed = random() >> 32;
  const auto past_line = kWidestAccessBytes / size_bytes(result_type(test.problem)) - 1;
  if (kind.traits.epilogue.bias != kNoBias && one_in(random, 2))
    test.bias_shift = static_cast<int>(number(random, 1, past_line));
  test.name = fmt::format("{}, alpha={}, beta={}, bias {} past a line, seed={}", name_of(test.fill),
                          test.alpha, test.beta, test.bias_shift, test.seed);
  return test;
}

}  // namespace

std::optional<codegen::KernelSpec> random_kernel(const codegen::SearchSpace& space,
                                                 const DeviceSpec& device, Random& random) {
  constexpr int kMostKinds = 2000;
  constexpr int kMostTiles = 5000;  // of a kind
  for (int drawn = 0; drawn < kMostKinds; ++drawn) {
    const Problem problem = case_problem(random_kind(random), {64, 64, 64}, 0, 1);
    if (!validate(problem) || !space.strategy->supports(problem, device.arch)) continue;
    codegen::KernelSpec spec = spec_for(*space.strategy, {}, problem, device.arch);
    for (int i = 0; i < kMostTiles; ++i) {
      spec.tile = space.at(number(random, 0, space.size() - 1));
      if (codegen::broken_rule(spec, device) != nullptr) continue;
      return one_in(random, 3) ? codegen::fetching_c(spec, device) : spec;
    }
  }
  return std::nullopt;
}

std::vector<VerificationCase> random_cases(const codegen::KernelSpec& spec, int scale, size_t count,
                                           Random& random) {
  CaseSizes most = ragged_sizes(spec.tile);
  most.m *= scale;
  most.n *= scale;
  most.k *= scale * std::clamp(spec.tile.slices, 1, 4);
  std::vector<VerificationCase> cases;
  for (size_t i = 0; i < count; ++i) cases.push_back(random_case(kind_of(spec), most, random));
  return cases;
}

}  // namespace gemmtune::tuner
