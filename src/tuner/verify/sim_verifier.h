#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/strategy.h"
#include "core/error.h"
#include "jit/compiler.h"
#include "ptxsim/machine/simulator.h"
#include "tuner/verify/verdict.h"
#include "tuner/verify/verification_case.h"

namespace gemmtune::tuner {

// What one launch of a product executed and moved.
struct LaunchProfile {
  std::string entry;  // the kernel's name
  Dim3 grid;
  Dim3 block;
  ptxsim::Profile counts;
};

struct ProfiledProduct {
  Verdict verdict;
  std::vector<LaunchProfile> launches;  // in order; up to the faulty one where the verdict says so
};

// A kernel on the PTX simulator: what GpuVerifier is on a device, without one. The operands lie in
// allocations of exactly their size, so every access outside them is found, reads included; C
// counts as unwritten where beta = 0. Immutable after load(); verify() may run on several threads.
class SimVerifier {
 public:
  // Compiles the kernel to PTX for `arch` and decodes it. Fails with ErrorKind::failed and the
  // compiler's first error, or with what the simulator says of PTX it cannot run.
  static Expected<SimVerifier> load(const codegen::KernelSpec& spec, const jit::Compiler& compiler);
  // The same from a source that is not emit(spec), but has its entries: a mutant, say.
  static Expected<SimVerifier> load(const codegen::KernelSpec& spec,
                                    const codegen::KernelSource& source,
                                    const jit::Compiler& compiler);

  // Runs one case. A finding of the simulator (a race, a misaligned or uninitialised read ...) is a
  // verdict too: out_of_bounds for accesses outside an allocation, wrong_result for the rest. An
  // error means that the launch does not fit the kernel.
  Expected<Verdict> verify(const VerificationCase& test, const ptxsim::Options& options) const;

  // Runs the cases with each of the modes until one fails; max_error is over all that ran.
  Expected<Verdict> verify(std::span<const VerificationCase> cases,
                           std::span<const ptxsim::AsyncMode> modes, ptxsim::Options options) const;

  // Whether it has asynchronous copies; if not, all modes are the same.
  bool copies_asynchronously() const;
  // The modes that make a difference: both, or `late` alone.
  std::span<const ptxsim::AsyncMode> async_modes() const;

  // One product of `problem`, with what it executed and moved; verified as a case is (random
  // operands, beta = 0). The operands lie as cudaMalloc places them. `problem` is canonical and
  // agrees with the kernel's traits.
  Expected<ProfiledProduct> profile(const Problem& problem, ptxsim::Options options) const;

 private:
  struct Run;
  Expected<Run> run(const VerificationCase& test, uint64_t alignment,
                    const ptxsim::Options& options) const;

  explicit SimVerifier(codegen::KernelSpec spec) : spec_(spec) {}

  codegen::KernelSpec spec_;
  std::vector<ptxsim::Program> entries_;  // in the order of KernelSource::entries
};

// Checks kernels by the quick cases at ragged sizes just above their tile.
HostVerifier sim_host_verifier(std::shared_ptr<const jit::Compiler> compiler,
                               ptxsim::Options options = {});

}  // namespace gemmtune::tuner
