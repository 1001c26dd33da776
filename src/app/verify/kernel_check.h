#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/target.h"
#include "gpu/context.h"
#include "jit/compiler.h"
#include "launch/loaded_kernel.h"
#include "tuner/verify/sim_verifier.h"
#include "tuner/verify/verdict.h"

namespace gemmtune::app {

// One kernel and what became of it.
struct VerifiedKernel {
  std::string config;
  std::string failure;  // compiling or launching; empty: `verdict` tells
  tuner::Verdict verdict;
  std::vector<tuner::LaunchProfile> launches;  // of VerifyReport::profiled; empty if not asked for

  bool correct() const { return failure.empty() && verdict.correct(); }
};

// What became of it in a word: "correct", "wrong_result", "out_of_bounds", "unwritten", "failed".
std::string_view outcome_of(const VerifiedKernel& kernel);
// What is wrong with it; empty if nothing is.
const std::string& detail_of(const VerifiedKernel& kernel);

// Usage error for what is neither "gpu" nor "sim".
Expected<void> check_backend(std::string_view name);

// ErrorKind::unsupported where no GPU here runs the target's code.
Expected<std::shared_ptr<gpu::Context>> retain_device(const Machine& machine, const Target& target);

// Compiles and loads a kernel, and has `verify` run it. What of that fails is the result's failure;
// an error means that the device is lost.
Expected<VerifiedKernel> check_on_gpu(
    const std::shared_ptr<const gpu::Context>& context, const jit::Compiler& compiler,
    const codegen::KernelSpec& spec,
    const std::function<gpu::Result<tuner::Verdict>(const launch::LoadedKernel&)>& verify);

// The same on the simulator: `simulate` fills the result.
VerifiedKernel check_on_sim(
    const jit::Compiler& compiler, const codegen::KernelSpec& spec,
    const std::function<Expected<void>(const tuner::SimVerifier&, VerifiedKernel&)>& simulate);

}  // namespace gemmtune::app
