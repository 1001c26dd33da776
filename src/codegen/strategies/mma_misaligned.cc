#include <fmt/format.h>

#include <array>

#include "codegen/mma_strategy.h"
#include "codegen/registry.h"

namespace gemmtune::codegen {
namespace {

// As in parts/aligned_copy.cuh.
constexpr int kLineUnit = 64;      // elements
constexpr int kAlignedVector = 8;  // elements
constexpr int kCopyThreads = 256;
constexpr int64_t kMaxWorkspaceBytes = int64_t{256} << 20;

constexpr std::array kOwnRules = {
    Rule{"an operand that 16 bytes do not divide", "without one this is mma_multistage and a copy",
         [](const RuleInput& in) {
           return in.spec.traits.vector_a < kAlignedVector ||
                  in.spec.traits.vector_b < kAlignedVector;
         }},
};

// Elements of an operand's copy, all batch entries; 0 if it is not copied.
int64_t copied_elements(int vector, int64_t lines, int64_t line, int64_t stride, int64_t batch) {
  if (vector >= kAlignedVector) return 0;
  const int64_t entries = stride == 0 ? 1 : batch;
  return entries * lines * ((line + kLineUnit - 1) / kLineUnit * kLineUnit);
}

int64_t copied_elements(const KernelSpec& spec, const Problem& p) {
  const Shape& s = p.shape;
  const KernelTraits& t = spec.traits;
  return copied_elements(t.vector_a, t.a_row_major ? s.m : s.k, t.a_row_major ? s.k : s.m,
                         p.stride_a, p.batch) +
         copied_elements(t.vector_b, t.b_row_major ? s.k : s.n, t.b_row_major ? s.n : s.k,
                         p.stride_b, p.batch);
}

class MmaMisaligned final : public MmaStrategy {
 public:
  MmaMisaligned() : MmaStrategy(kOwnRules) {}

  std::string_view name() const override { return "mma_misaligned"; }
  std::string_view summary() const override {
    return "mma_multistage on aligned copies of the operands that 16 bytes do not divide";
  }
  std::string_view template_file() const override { return "mma_misaligned.cuh"; }
  std::string_view template_name() const override { return "MmaMisaligned"; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    // Every operand of f32 allows the 4-byte copies of mma_multistage.
    if (problem.type == DataType::f32) {
      return make_error(ErrorKind::unsupported, "computes f16 and bf16 only");
    }
    return MmaStrategy::supports(problem, arch);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    return copied_elements(spec, problem) * size_bytes(spec.type) <= kMaxWorkspaceBytes;
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    KernelTraits traits = spec.traits;
    traits.vector_a = traits.vector_b = kAlignedVector;
    return traits;
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = Strategy::entry_points(spec);
    entries.push_back({"_prepare", "prepare", kCopyThreads, "kPrepareThreads"});
    return entries;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = MmaStrategy::work(spec, problem);
    work.launches = 2;
    work.reduction_bytes = 2 * copied_elements(spec, problem) * size_bytes(spec.type);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    constexpr int64_t kBlockElements = int64_t{kCopyThreads} * kAlignedVector;
    const int64_t elements = copied_elements(spec, problem);
    LaunchPlan plan = MmaStrategy::launch_plan(spec, problem);
    plan.preamble = fmt::format(
        "e: the elements of the copies of A and B, those that 16 bytes do not divide, with lines "
        "padded to multiples of {} elements.\n",
        kLineUnit);
    plan.launches.insert(plan.launches.begin(),
                         launch_of(spec, 1,
                                   {(elements + kBlockElements - 1) / kBlockElements,
                                    fmt::format("ceil(e / {})", kBlockElements)}));
    plan.workspace_bytes = elements * size_bytes(spec.type);
    plan.workspace_formula = fmt::format("{} * e", size_bytes(spec.type));
    return plan;
  }
};

}  // namespace

const Strategy& mma_misaligned() {
  static const MmaMisaligned strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
