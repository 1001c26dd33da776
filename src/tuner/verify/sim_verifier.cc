#include "tuner/verify/sim_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/emitter.h"
#include "core/elements.h"
#include "launch/arguments.h"
#include "tuner/verify/sim_arguments.h"

namespace gemmtune::tuner {
namespace {

using ptxsim::GlobalMemory;

constexpr uint64_t kDeviceAlignment = 256;  // as cudaMalloc gives
constexpr std::byte kLeftover{0xA5};        // in workspaces, of whatever ran before

// Addresses of a case's operands in simulated memory.
struct Addresses {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
  uint64_t bias = 0;
  uint64_t scale_a = 0;
  uint64_t scale_b = 0;
  uint64_t workspace = 0;
};

// An allocation that holds `values`, aligned to `alignment` bytes and no better.
Expected<uint64_t> place(GlobalMemory& memory, std::span<const std::byte> values,
                         uint64_t alignment, const char* label) {
  auto address = memory.allocate(values.size_bytes(), alignment, label);
  if (address) memory.write(*address, values);
  return address;
}

// The bias of a case, whose alignment is no better than its shift says.
Expected<uint64_t> place_bias(GlobalMemory& memory, const VerificationCase& test,
                              const HostOperands& host) {
  if (host.bias.empty()) return uint64_t{0};
  const DataType type = result_type(test.problem);
  const int shift_bytes = test.bias_shift * size_bytes(type);
  const uint64_t alignment =
      shift_bytes == 0 ? kDeviceAlignment : static_cast<uint64_t>(shift_bytes & -shift_bytes);
  return place(memory, encode(host.bias, type), alignment, "bias");
}

Expected<uint64_t> place_scales(GlobalMemory& memory, const Problem& problem,
                                const std::vector<float>& scales, const char* label) {
  if (scales.empty()) return uint64_t{0};
  return place(memory, std::as_bytes(std::span(scales)),
               static_cast<uint64_t>(scale_align_bytes(problem)), label);
}

// Marks the elements of C, not the padding between its rows, as never written.
void forget_matrix(GlobalMemory& memory, uint64_t c, const Problem& p) {
  const auto element = static_cast<uint64_t>(size_bytes(result_type(p)));
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      const auto at = static_cast<uint64_t>(z * p.stride_c + i * p.ldc);
      memory.forget(c + at * element, static_cast<uint64_t>(p.shape.n) * element);
    }
  }
}

uint64_t awaited_words(uint64_t workspace, const codegen::LaunchPlan& plan) {
  return workspace + static_cast<uint64_t>(plan.workspace_bytes - plan.awaited_bytes);
}

// Whether a kernel took back each word that it set for others to wait for: the next launch would
// take it for its own.
bool took_words_back(const GlobalMemory& memory, uint64_t workspace,
                     const codegen::LaunchPlan& plan) {
  std::vector<std::byte> words(static_cast<size_t>(plan.awaited_bytes));
  memory.read(awaited_words(workspace, plan), words);
  return std::ranges::all_of(
      words, [](std::byte byte) { return byte == kLeftover || byte == std::byte{0}; });
}

Expected<Addresses> place_operands(GlobalMemory& memory, const VerificationCase& test,
                                   const HostOperands& host, uint64_t alignment,
                                   const codegen::LaunchPlan& plan) {
  const DataType type = test.problem.type;
  const auto a = place(memory, encode(host.a, type), alignment, "A");
  if (!a) return tl::unexpected(a.error());
  const auto b = place(memory, encode(host.b, type), alignment, "B");
  if (!b) return tl::unexpected(b.error());
  const auto c = place(memory, encode(host.c, result_type(test.problem)), alignment, "C");
  if (!c) return tl::unexpected(c.error());
  if (test.beta == 0) forget_matrix(memory, *c, test.problem);
  const auto bias = place_bias(memory, test, host);
  if (!bias) return tl::unexpected(bias.error());
  const auto scale_a = place_scales(memory, test.problem, host.scale_a, "scales of A");
  if (!scale_a) return tl::unexpected(scale_a.error());
  const auto scale_b = place_scales(memory, test.problem, host.scale_b, "scales of B");
  if (!scale_b) return tl::unexpected(scale_b.error());
  Addresses out{*a, *b, *c, *bias, *scale_a, *scale_b, 0};
  if (plan.workspace_bytes > 0) {
    const auto bytes = static_cast<uint64_t>(plan.workspace_bytes);
    const auto workspace = memory.allocate(bytes, kDeviceAlignment, "workspace");
    if (!workspace) return tl::unexpected(workspace.error());
    out.workspace = *workspace;
    const std::vector<std::byte> leftovers(static_cast<size_t>(plan.awaited_bytes), kLeftover);
    memory.write(awaited_words(*workspace, plan), leftovers);
  }
  return out;
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT: an address of simulated memory
}

// The operands of a case where they lie. Scalars that the kernel reads from memory are put there.
Expected<launch::Operands> operands_at(const Addresses& at, const VerificationCase& test,
                                       bool device_scalars, GlobalMemory& memory) {
  launch::Operands operands;
  operands.a = pointer(at.a);
  operands.b = pointer(at.b);
  operands.c = pointer(at.c);
  operands.bias = pointer(at.bias);
  operands.scale_a = static_cast<const float*>(pointer(at.scale_a));
  operands.scale_b = static_cast<const float*>(pointer(at.scale_b));
  operands.workspace = pointer(at.workspace);
  operands.alpha = test.alpha;
  operands.beta = test.beta;
  if (!device_scalars) return operands;
  const auto put = [&memory](const float& value, const char* label) {
    return place(memory, std::as_bytes(std::span(&value, 1)), sizeof(float), label);
  };
  const auto alpha = put(test.alpha, "alpha");
  if (!alpha) return tl::unexpected(alpha.error());
  const auto beta = put(test.beta, "beta");
  if (!beta) return tl::unexpected(beta.error());
  operands.alpha_device = static_cast<const float*>(pointer(*alpha));
  operands.beta_device = static_cast<const float*>(pointer(*beta));
  operands.alpha = operands.beta = NAN;  // not to be used
  return operands;
}

bool is_outside(ptxsim::FindingKind kind) {
  return kind == ptxsim::FindingKind::out_of_bounds || kind == ptxsim::FindingKind::read_only;
}

Verdict verdict_of(const VerificationCase& test, const ptxsim::Finding& finding) {
  Verdict verdict;
  verdict.kind = is_outside(finding.kind) ? VerdictKind::out_of_bounds : VerdictKind::wrong_result;
  verdict.detail =
      fmt::format("case '{}' ({}): {}", test.name, key(test.problem), ptxsim::to_string(finding));
  return verdict;
}

// NVRTC puts the working folder before the names of sources, which are no files: back to the names.
void name_sources(const codegen::KernelSource& source, ptxsim::Program& program) {
  for (std::string& file : program.files) {
    for (const codegen::SourceHeader& header : source.headers) {
      if (file.ends_with("/" + header.name)) file = header.name;
    }
  }
}

// C and its guard zones as a GPU run would leave them: accesses that would hit a guard are
// findings.
std::vector<float> image_of(const GlobalMemory& memory, uint64_t c, const HostOperands& host,
                            DataType type) {
  std::vector<std::byte> result(host.c.size() * static_cast<size_t>(size_bytes(type)));
  memory.read(c, result);
  return guarded(decode(result, type), type);
}

}  // namespace

Expected<SimVerifier> SimVerifier::load(const codegen::KernelSpec& spec,
                                        const jit::Compiler& compiler) {
  return load(spec, codegen::emit(spec), compiler);
}

Expected<SimVerifier> SimVerifier::load(const codegen::KernelSpec& spec,
                                        const codegen::KernelSource& source,
                                        const jit::Compiler& compiler) {
  // With lines of the source, so that a finding can name them.
  const auto compiled = compiler.compile_to_ptx({source, spec.arch, {"--generate-line-info"}});
  if (!compiled) {
    return make_error(ErrorKind::failed,
                      fmt::format("{}: {}", source.name, compiled.error().first_error));
  }
  const auto module = ptxsim::parse(compiled->ptx, source.name);
  if (!module) return tl::unexpected(module.error());
  SimVerifier verifier(spec);
  for (const std::string& entry : source.entries) {
    auto program = ptxsim::decode(*module, entry);
    if (!program) return tl::unexpected(program.error());
    name_sources(source, *program);
    verifier.entries_.push_back(std::move(*program));
  }
  return verifier;
}

struct SimVerifier::Run {
  Verdict verdict;
  std::vector<ptxsim::Profile> profiles;  // by launch
  codegen::LaunchPlan plan;
};

Expected<SimVerifier::Run> SimVerifier::run(const VerificationCase& test, uint64_t alignment,
                                            const ptxsim::Options& options) const {
  const HostOperands host = make_operands(test);
  Run out;
  out.plan = spec_.strategy->launch_plan(spec_, test.problem);
  GlobalMemory memory;
  const auto at = place_operands(memory, test, host, alignment, out.plan);
  if (!at) return tl::unexpected(at.error());
  const auto operands = operands_at(*at, test, spec_.device_scalars, memory);
  if (!operands) return tl::unexpected(operands.error());
  for (const codegen::KernelLaunch& launch : out.plan.launches) {
    const ptxsim::Program& program = entries_[static_cast<size_t>(launch.entry)];
    const auto arguments =
        simulated_arguments(launch, test.problem, spec_.device_scalars, *operands);
    if (!arguments) return tl::unexpected(arguments.error());
    auto ran = ptxsim::run(program, launch.config, *arguments, memory, options);
    if (!ran) return tl::unexpected(ran.error());
    out.profiles.push_back(std::move(ran->profile));
    if (!ran->findings.empty()) {
      out.verdict = verdict_of(test, ran->findings.front());
      return out;
    }
  }
  out.verdict = judge(test, host, image_of(memory, at->c, host, result_type(test.problem)));
  if (out.verdict.correct() && !took_words_back(memory, at->workspace, out.plan)) {
    out.verdict.kind = VerdictKind::wrong_result;
    out.verdict.detail = fmt::format("case '{}' ({}): words that blocks wait for are left set",
                                     test.name, key(test.problem));
  }
  return out;
}

Expected<Verdict> SimVerifier::verify(const VerificationCase& test,
                                      const ptxsim::Options& options) const {
  auto ran = run(test, static_cast<uint64_t>(test.problem.align_bytes), options);
  if (!ran) return tl::unexpected(ran.error());
  return std::move(ran->verdict);
}

Expected<Verdict> SimVerifier::verify(std::span<const VerificationCase> cases,
                                      std::span<const ptxsim::AsyncMode> modes,
                                      ptxsim::Options options) const {
  Verdict all;
  for (const ptxsim::AsyncMode mode : modes) {
    options.async = mode;
    for (const VerificationCase& test : cases) {
      auto verdict = verify(test, options);
      if (!verdict) return verdict;
      all.max_error = std::max(all.max_error, verdict->max_error);
      if (verdict->correct()) continue;
      verdict->max_error = all.max_error;
      if (copies_asynchronously())
        verdict->detail += fmt::format(" (asynchronous copies arriving {})", name_of(mode));
      return verdict;
    }
  }
  return all;
}

bool SimVerifier::copies_asynchronously() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const ptxsim::Program& program) {
    return program.uses_async_proxy ||
           std::any_of(program.code.begin(), program.code.end(), [](const auto& in) {
             return in.category == ptxsim::InstructionClass::async_copy;
           });
  });
}

std::span<const ptxsim::AsyncMode> SimVerifier::async_modes() const {
  static constexpr ptxsim::AsyncMode kModes[] = {ptxsim::AsyncMode::late, ptxsim::AsyncMode::early};
  return std::span(kModes).first(copies_asynchronously() ? 2 : 1);
}

Expected<ProfiledProduct> SimVerifier::profile(const Problem& problem,
                                               ptxsim::Options options) const {
  options.profile = true;
  const VerificationCase test{"the profiled product", problem, 1, 0, Fill::random, 1, 0};
  auto ran = run(test, kDeviceAlignment, options);
  if (!ran) return tl::unexpected(ran.error());
  ProfiledProduct out{std::move(ran->verdict), {}};
  for (size_t i = 0; i < ran->profiles.size(); ++i) {
    const codegen::KernelLaunch& launch = ran->plan.launches[i];
    out.launches.push_back({entries_[static_cast<size_t>(launch.entry)].kernel, launch.config.grid,
                            launch.config.block, std::move(ran->profiles[i])});
  }
  return out;
}

HostVerifier sim_host_verifier(std::shared_ptr<const jit::Compiler> compiler,
                               ptxsim::Options options) {
  return [compiler = std::move(compiler),
          options](const codegen::KernelSpec& spec) -> Expected<Verdict> {
    const auto kernel = SimVerifier::load(spec, *compiler);
    if (!kernel) return tl::unexpected(kernel.error());
    return kernel->verify(verification_cases(kind_of(spec), ragged_sizes(spec.tile), Effort::quick),
                          kernel->async_modes(), options);
  };
}

}  // namespace gemmtune::tuner
