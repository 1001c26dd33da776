#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "codegen/epilogue_kernel.h"
#include "core/elements.h"
#include "sim_kernel.h"
#include "tuner/verify/epilogue_reference.h"

// The kernel that applies an epilogue to a C in memory, against the epilogue in fp64.

namespace gemmtune::tuner {
namespace {

using ptxsim::GlobalMemory;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr DataType kTypes[] = {DataType::f32, DataType::f16, DataType::bf16};
constexpr Epilogue kEpilogues[] = {{kBiasPerRow, kNoActivation},
                                   {kBiasPerColumn, kRelu},
                                   {kBiasPerRow, kGeluTanh},
                                   {kBiasPerColumn, kGeluErf},
                                   {kBiasPerColumn, kSilu},
                                   {kNoBias, kSilu},
                                   {kNoBias, kRelu}};

// C of a problem, and how its bias lies.
struct Case {
  int64_t m = 1;
  int64_t n = 1;
  int64_t ldc = 0;  // 0: no gaps
  int64_t batch = 1;
  int64_t batch_gap = 0;   // elements between batch entries
  int align_elements = 0;  // what C's address is a multiple of; 0: of 256 bytes
  int bias_shift = 0;      // elements that the bias lies past a multiple of 16 bytes
};

Problem problem_of(const Case& c, DataType type, const Epilogue& epilogue) {
  Problem problem = make_problem({c.m, c.n, 1}, type);
  problem.batch = c.batch;
  problem.ldc = c.ldc == 0 ? c.n : c.ldc;
  problem.stride_c = 0;
  pack(problem);
  if (c.batch > 1) problem.stride_c += c.batch_gap;
  if (c.align_elements > 0) problem.align_bytes = c.align_elements * size_bytes(type);
  problem.epilogue = epilogue;
  const auto valid = validate(problem);
  REQUIRE_MESSAGE(valid.has_value(), valid.error().message);
  return problem;
}

// Random elements, of which some are special.
std::vector<float> values(size_t count, DataType type, std::mt19937& random) {
  static constexpr float kSpecial[] = {NAN, kInf, -kInf, -0.0F, 0.0F};
  std::uniform_real_distribution<float> uniform(-4, 4);
  std::vector<float> out(count);
  for (float& value : out) {
    const auto which = random() % 40;
    value = rounded(which < std::size(kSpecial) ? kSpecial[which] : uniform(random), type);
  }
  return out;
}

// Bounds what an f32 computation of the activation may add, and the rounding to the type.
double tolerance(DataType type, double magnitude, double expected) {
  double step = 0x1p-24;
  if (type == DataType::f16) step = 0x1p-11;
  if (type == DataType::bf16) step = 0x1p-8;
  return 0x1p-20 * magnitude + step * std::abs(expected) + 0x1p-25;
}

bool is_right(const Problem& p, float before, float bias, float got) {
  const DataType type = result_type(p);
  const Activation activation = p.epilogue.activation;
  const float sum = p.epilogue.bias == kNoBias ? before : before + bias;
  if (sum == -kInf) return right_of_minus_infinity(activation, got);
  const double expected = activated(activation, sum);
  if (std::isnan(expected)) return std::isnan(got);
  if (sum == 0 && std::signbit(sum) != std::signbit(got)) return false;
  if (std::isinf(expected)) return got == expected;
  if (is_exact(activation)) return got == rounded(static_cast<float>(expected), type);
  return std::abs(got - expected) <= tolerance(type, std::abs(before) + std::abs(bias), expected);
}

// C and bias in simulated memory. What lies between rows was never written.
class Memory {
 public:
  Memory(const Problem& problem, int bias_shift) : p_(problem), type_(result_type(problem)) {
    std::mt19937 random(static_cast<unsigned>(problem.shape.m * 1000 + problem.shape.n));
    element_ = static_cast<size_t>(size_bytes(type_));
    before_ = values(static_cast<size_t>(bytes_c(p_)) / element_, type_, random);
    bias_ = values(static_cast<size_t>(bias_elements(p_)), type_, random);
    c_ = memory_
             .allocate(static_cast<uint64_t>(bytes_c(p_)), static_cast<uint64_t>(p_.align_bytes),
                       "C")
             .value();
    for_each_row([&](size_t at) {
      memory_.write(c_ + at * element_,
                    encode(std::span(before_).subspan(at, row_elements()), type_));
    });
    if (bias_.empty()) return;
    const size_t shift = static_cast<size_t>(bias_shift) * element_;
    bias_at_ = memory_.allocate(bias_.size() * element_, shift == 0 ? 256 : shift & -shift, "bias")
                   .value();
    memory_.write(bias_at_, encode(bias_, type_));
  }

  ptxsim::RunResult run(const ptxsim::Program& program, const codegen::EpilogueKernel& kernel) {
    GemmArgs args = kernel.args;
    args.c = reinterpret_cast<void*>(c_);           // NOLINT(performance-no-int-to-ptr)
    args.bias = reinterpret_cast<void*>(bias_at_);  // NOLINT(performance-no-int-to-ptr)
    return ptxsim::run(program, kernel.launch, {ptxsim::argument(args)}, memory_).value();
  }

  // Elements that are not what they must be, and gaps that were written.
  int wrong() const {
    std::vector<std::byte> bytes(before_.size() * element_);
    memory_.read(c_, bytes);
    const std::vector<float> got = decode(bytes, type_);
    std::vector<bool> in_matrix(got.size());
    int count = 0;
    int64_t row = 0;
    for_each_row([&](size_t at) {
      for (size_t j = 0; j < row_elements(); ++j) {
        in_matrix[at + j] = true;
        const float added = bias_of(row % p_.shape.m, j);
        count += is_right(p_, before_[at + j], added, got[at + j]) ? 0 : 1;
      }
      ++row;
    });
    for (size_t i = 0; i < got.size(); ++i)
      count += !in_matrix[i] && memory_.is_written(c_ + i * element_, 1) ? 1 : 0;
    return count;
  }

 private:
  size_t row_elements() const { return static_cast<size_t>(p_.shape.n); }

  // With the index of its first element.
  template <class Visit>
  void for_each_row(const Visit& visit) const {
    for (int64_t batch = 0; batch < p_.batch; ++batch) {
      for (int64_t i = 0; i < p_.shape.m; ++i)
        visit(static_cast<size_t>(batch * p_.stride_c + i * p_.ldc));
    }
  }

  float bias_of(int64_t row, size_t column) const {
    if (p_.epilogue.bias == kNoBias) return 0;
    return bias_[p_.epilogue.bias == kBiasPerRow ? static_cast<size_t>(row) : column];
  }

  const Problem& p_;
  DataType type_;
  size_t element_ = 0;
  std::vector<float> before_;
  std::vector<float> bias_;
  GlobalMemory memory_;
  uint64_t c_ = 0;
  uint64_t bias_at_ = 0;
};

ptxsim::Program program_of(const codegen::KernelSource& source) {
  const auto compiled = compiler().compile_to_ptx({source, kSimArch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  const auto module = ptxsim::parse(compiled->ptx, source.name);
  REQUIRE(module);
  return ptxsim::decode(*module, source.entries.front()).value();
}

// Programs by name: many cases run the same one.
const ptxsim::Program& cached_program(const codegen::KernelSource& source) {
  static std::map<std::string, ptxsim::Program> programs;
  auto found = programs.find(source.name);
  if (found == programs.end()) found = programs.emplace(source.name, program_of(source)).first;
  return found->second;
}

void check(const Case& c, DataType type, const Epilogue& epilogue, bool few_blocks = false) {
  const Problem problem = problem_of(c, type, epilogue);
  CAPTURE(key(problem));
  codegen::EpilogueKernel kernel = codegen::epilogue_kernel(problem);
  CAPTURE(kernel.source.name);
  if (few_blocks) kernel.launch.grid.y = kernel.launch.grid.z = 1;
  Memory memory(problem, c.bias_shift);
  const auto ran = memory.run(cached_program(kernel.source), kernel);
  CHECK_MESSAGE(ran.findings.empty(), ptxsim::to_string(ran.findings.front()));
  CHECK(memory.wrong() == 0);
}

TEST_CASE("every epilogue of every type, on wide and narrow accesses") {
  for (const DataType type : kTypes) {
    for (const Epilogue& epilogue : kEpilogues) {
      check({.m = 5, .n = 24}, type, epilogue);
      check({.m = 5, .n = 19, .ldc = 24, .bias_shift = 1}, type, epilogue);
      check({.m = 6, .n = 19, .ldc = 21}, type, epilogue);
    }
  }
}

TEST_CASE("shapes, gaps and alignments") {
  const Case cases[] = {
      {},
      {.m = 1, .n = 7},
      {.m = 1, .n = 8, .bias_shift = 1},
      {.m = 7, .n = 1},
      {.m = 300, .n = 1, .ldc = 8},
      {.m = 70, .n = 3},
      {.m = 2, .n = 2100, .bias_shift = 2},
      {.m = 3, .n = 16, .ldc = 0, .batch = 3},
      {.m = 3, .n = 5, .ldc = 0, .batch = 3},
      {.m = 3, .n = 16, .ldc = 24, .batch = 2, .batch_gap = 8},
      {.m = 1, .n = 16, .ldc = 0, .batch = 2, .batch_gap = 1},
      {.m = 4, .n = 16, .ldc = 0, .batch = 1, .batch_gap = 0, .align_elements = 1},
      {.m = 4, .n = 16, .ldc = 0, .batch = 1, .batch_gap = 0, .align_elements = 2},
      {.m = 4, .n = 18, .ldc = 18},
  };
  for (const DataType type : kTypes) {
    for (const Case& c : cases) {
      check(c, type, {kBiasPerColumn, kSilu});
      check(c, type, {kBiasPerRow, kNoActivation});
      check(c, type, {kNoBias, kSilu});
    }
  }
}

TEST_CASE("one block takes what a grid has no place for") {
  check({.m = 600, .n = 20, .ldc = 24, .batch = 3}, DataType::f16, {kBiasPerColumn, kSilu}, true);
  check({.m = 300, .n = 3, .ldc = 5, .batch = 2}, DataType::f32, {kBiasPerRow, kRelu}, true);
}

TEST_CASE("C is accessed by 16 bytes where its addresses allow it, and as one row without gaps") {
  const auto name = [](const Case& c, DataType type, const Epilogue& epilogue) {
    return codegen::epilogue_kernel(problem_of(c, type, epilogue)).source.name;
  };
  constexpr Epilogue kSiluOnly = {kNoBias, kSilu};
  constexpr Epilogue kBiased = {kBiasPerColumn, kSilu};
  CHECK(name({.m = 9, .n = 9}, DataType::bf16, kSiluOnly) == "apply_epilogue_bf16_silu_v8");
  CHECK(name({.m = 9, .n = 9}, DataType::bf16, kBiased) == "apply_epilogue_bf16_bias_silu_v1");
  CHECK(name({.m = 9, .n = 9, .ldc = 16}, DataType::f16, kBiased) ==
        "apply_epilogue_f16_bias_silu_v8");
  CHECK(name({.m = 9, .n = 9, .ldc = 10}, DataType::f32, kSiluOnly) ==
        "apply_epilogue_f32_silu_v2");
  CHECK(name({.m = 9, .n = 16, .ldc = 16}, DataType::f32, kBiased) ==
        "apply_epilogue_f32_bias_silu_v4");
}

TEST_CASE("planted faults are found") {
  struct Fault {
    const char* what;
    const char* with;
  };
  const Case c = {.m = 5, .n = 19, .ldc = 24, .batch = 2};
  for (const Fault& fault :
       {Fault{"n - column >= kVector", "n >= kVector"},
        Fault{"i < n - column", "i + 1 < n - column"}, Fault{"row * args.ldc", "row * args.n"}}) {
    CAPTURE(fault.what);
    const Problem problem = problem_of(c, DataType::f16, {kBiasPerColumn, kSilu});
    codegen::EpilogueKernel kernel = codegen::epilogue_kernel(problem);
    std::string& text = kernel.source.headers.back().text;
    const size_t at = text.find(fault.what);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string_view(fault.what).size(), fault.with);
    Memory memory(problem, 0);
    const auto ran = memory.run(program_of(kernel.source), kernel);
    CHECK((!ran.findings.empty() || memory.wrong() > 0));
  }
}

}  // namespace
}  // namespace gemmtune::tuner
