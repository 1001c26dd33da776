#include "tuner/sim_verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emitter.h"
#include "tuner/loaded_kernel.h"

namespace gemmtune::tuner {
namespace {

using ptxsim::GlobalMemory;

constexpr uint64_t kWorkspaceAlignment = 256;  // as cudaMalloc gives

// Addresses of a case's operands in simulated memory.
struct Addresses {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
  uint64_t workspace = 0;
};

// An allocation that holds `values`, aligned to `alignment` bytes and no better.
Expected<uint64_t> place(GlobalMemory& memory, std::span<const float> values, uint64_t alignment,
                         const char* label) {
  auto address = memory.allocate(values.size_bytes(), alignment, label);
  if (address) memory.write(*address, std::as_bytes(values));
  return address;
}

// Marks the elements of C, not the padding between its rows, as never written.
void forget_matrix(GlobalMemory& memory, uint64_t c, const Problem& p) {
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      const auto at = static_cast<uint64_t>(z * p.stride_c + i * p.ldc);
      memory.forget(c + at * sizeof(float), static_cast<uint64_t>(p.shape.n) * sizeof(float));
    }
  }
}

Expected<Addresses> place_operands(GlobalMemory& memory, const VerificationCase& test,
                                   const HostOperands& host, int64_t workspace_bytes) {
  const auto alignment = static_cast<uint64_t>(test.problem.align_bytes);
  const auto a = place(memory, host.a, alignment, "A");
  if (!a) return tl::unexpected(a.error());
  const auto b = place(memory, host.b, alignment, "B");
  if (!b) return tl::unexpected(b.error());
  const auto c = place(memory, host.c, alignment, "C");
  if (!c) return tl::unexpected(c.error());
  if (test.beta == 0) forget_matrix(memory, *c, test.problem);
  Addresses out{*a, *b, *c, 0};
  if (workspace_bytes > 0) {
    const auto workspace =
        memory.allocate(static_cast<uint64_t>(workspace_bytes), kWorkspaceAlignment, "workspace");
    if (!workspace) return tl::unexpected(workspace.error());
    out.workspace = *workspace;
  }
  return out;
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT: an address of simulated memory
}

ptxsim::LaunchConfig to_config(const codegen::KernelLaunch& launch) {
  ptxsim::LaunchConfig config;
  const auto set = [](uint32_t(&to)[3], const codegen::Dim3& from) {
    to[0] = from.x, to[1] = from.y, to[2] = from.z;
  };
  set(config.grid, launch.grid);
  set(config.block, launch.block);
  set(config.cluster, launch.cluster);
  config.dynamic_smem_bytes = static_cast<uint32_t>(launch.smem_bytes);
  return config;
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

// C and its guard zones as a GPU run would leave them: accesses that would hit a guard are
// findings.
std::vector<float> image_of(const GlobalMemory& memory, uint64_t c, const HostOperands& host) {
  std::vector<float> result(host.c.size());
  memory.read(c, std::as_writable_bytes(std::span(result)));
  return guarded(result);
}

}  // namespace

Expected<SimVerifier> SimVerifier::load(const codegen::KernelSpec& spec, Arch arch,
                                        const jit::Compiler& compiler) {
  return load(spec, codegen::emit(spec), arch, compiler);
}

Expected<SimVerifier> SimVerifier::load(const codegen::KernelSpec& spec,
                                        const codegen::KernelSource& source, Arch arch,
                                        const jit::Compiler& compiler) {
  const auto compiled = compiler.compile_to_ptx({source, arch, {}});
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
    verifier.entries_.push_back(std::move(*program));
  }
  return verifier;
}

Expected<Verdict> SimVerifier::verify(const VerificationCase& test,
                                      const ptxsim::Options& options) const {
  const HostOperands host = make_operands(test);
  const codegen::LaunchPlan plan = spec_.strategy->launch_plan(spec_, test.problem);
  GlobalMemory memory;
  const auto at = place_operands(memory, test, host, plan.workspace_bytes);
  if (!at) return tl::unexpected(at.error());
  const GemmArgs args = make_args(test.problem, {pointer(at->a), pointer(at->b), pointer(at->c),
                                                 pointer(at->workspace), test.alpha, test.beta});
  for (const codegen::KernelLaunch& launch : plan.launches) {
    const ptxsim::Program& program = entries_[static_cast<size_t>(launch.entry)];
    const auto ran =
        ptxsim::run(program, to_config(launch), {ptxsim::argument(args)}, memory, options);
    if (!ran) return tl::unexpected(ran.error());
    if (!ran->findings.empty()) return verdict_of(test, ran->findings.front());
  }
  return judge(test, host, image_of(memory, at->c, host));
}

Expected<Verdict> SimVerifier::verify(std::span<const VerificationCase> cases,
                                      const ptxsim::Options& options) const {
  double max_error = 0;
  for (const VerificationCase& test : cases) {
    auto verdict = verify(test, options);
    if (!verdict) return verdict;
    max_error = std::max(max_error, verdict->max_error);
    verdict->max_error = max_error;
    if (!verdict->correct()) return verdict;
  }
  Verdict all;
  all.max_error = max_error;
  return all;
}

HostVerifier sim_host_verifier(std::shared_ptr<const jit::Compiler> compiler, Arch arch,
                               ptxsim::Options options) {
  return [compiler = std::move(compiler), arch,
          options](const codegen::KernelSpec& spec) -> Expected<Verdict> {
    const auto kernel = SimVerifier::load(spec, arch, *compiler);
    if (!kernel) return tl::unexpected(kernel.error());
    return kernel->verify(
        verification_cases(spec.traits, spec.type, ragged_sizes(spec.tile), Effort::quick),
        options);
  };
}

}  // namespace gemmtune::tuner
