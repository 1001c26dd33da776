#include "app/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>

#include "app/common/kernel_choice.h"
#include "codegen/pair_cover.h"
#include "codegen/search_space.h"
#include "core/names.h"
#include "tuner/verify/gpu_verifier.h"

namespace gemmtune::app {
namespace {

constexpr std::string_view kBothModes = "both";
constexpr std::array<std::string_view, 3> kAsyncModes = {kBothModes,
                                                         ptxsim::name_of(ptxsim::AsyncMode::early),
                                                         ptxsim::name_of(ptxsim::AsyncMode::late)};
// Each case's reference is a plain loop on the CPU, and there are dozens of cases.
constexpr double kMostFlops = 4e9;

// Of so many random legal tiles those are chosen that are verified.
constexpr size_t kMostSampled = 5000;

// `count` of the tiles: those of them in which most pairs of parameter values stand together, then
// any others.
std::vector<TileConfig> choose(const codegen::SearchSpace& space,
                               const std::vector<TileConfig>& tiles, size_t count) {
  const auto levels = codegen::levels_of(space, tiles);
  std::vector<bool> is_chosen(tiles.size());
  std::vector<TileConfig> chosen;
  for (const size_t i : codegen::pair_cover(levels, count)) {
    chosen.push_back(tiles[i]);
    is_chosen[i] = true;
  }
  for (size_t i = 0; chosen.size() < std::min(count, tiles.size()); ++i) {
    if (!is_chosen[i]) chosen.push_back(tiles[i]);
  }
  return chosen;
}

// The kernels to check: the one that was named, or a sample of the legal ones.
Expected<std::vector<codegen::KernelSpec>> choose_kernels(const VerifyOptions& options,
                                                          const Problem& problem,
                                                          const Target& target) {
  if (!options.tile.empty()) {
    auto spec = parse_kernel(options.strategy, options.tile, problem, target.arch);
    if (!spec) return tl::unexpected(spec.error());
    return std::vector{*spec};
  }
  auto strategy = codegen::find_strategy(options.strategy);
  if (!strategy) return tl::unexpected(strategy.error());
  if (auto supported = check_supported(**strategy, problem, target.arch); !supported)
    return tl::unexpected(supported.error());
  auto space = codegen::default_search_space(**strategy);
  if (!space) return tl::unexpected(space.error());
  const auto count = static_cast<size_t>(options.tiles);
  std::mt19937_64 random(options.seed);
  const auto legal =
      codegen::sample_legal(*space, problem, target.limits, std::max(kMostSampled, count), random);
  std::vector<codegen::KernelSpec> specs;
  for (const TileConfig& tile : choose(*space, legal, count))
    specs.push_back(codegen::spec_for(**strategy, tile, problem, target.arch));
  if (specs.empty()) return usage_error("no tile of the strategy is legal for this problem");
  return specs;
}

// Verifies one kernel; an error means that nothing further can be verified.
using Check = std::function<Expected<VerifiedKernel>(const codegen::KernelSpec&)>;

Expected<Check> gpu_check(const Machine& machine, const Problem& problem, const Target& target,
                          const std::shared_ptr<const jit::Compiler>& compiler,
                          size_t& case_count) {
  auto context = retain_device(machine, target);
  if (!context) return tl::unexpected(context.error());
  const tuner::CaseSizes sizes{problem.shape.m, problem.shape.n, problem.shape.k};
  auto cases = tuner::verification_cases(tuner::kind_of(problem), sizes, tuner::Effort::thorough);
  case_count = cases.size();
  auto verifier = tuner::GpuVerifier::create(*context, std::move(cases));
  if (!verifier) return tl::unexpected(verifier.error());
  auto shared = std::make_shared<tuner::GpuVerifier>(std::move(*verifier));
  return Check([shared, context = *context, compiler](const codegen::KernelSpec& spec) {
    return check_on_gpu(context, *compiler, spec,
                        [&](const launch::LoadedKernel& kernel) { return shared->verify(kernel); });
  });
}

// What the simulator is asked of each kernel.
struct SimRequest {
  std::optional<ptxsim::AsyncMode> mode;  // none: all that make a difference
  std::optional<Problem> profiled;
};

// Thorough cases at sizes just above the kernel's tile (the simulator is too slow for others), then
// the profile. A wrong kernel is not profiled.
Expected<void> simulate(const SimRequest& request, const tuner::SimVerifier& verifier,
                        const codegen::KernelSpec& spec, VerifiedKernel& result) {
  const auto modes = request.mode ? std::span(&*request.mode, 1) : verifier.async_modes();
  const auto cases = tuner::verification_cases(tuner::kind_of(spec), tuner::ragged_sizes(spec.tile),
                                               tuner::Effort::thorough);
  auto verdict = verifier.verify(cases, modes, {});
  if (!verdict) return tl::unexpected(verdict.error());
  result.verdict = *std::move(verdict);
  if (!result.verdict.correct() || !request.profiled) return {};
  ptxsim::Options options;
  options.async = modes.front();
  auto profile = verifier.profile(*request.profiled, options);
  if (!profile) return tl::unexpected(profile.error());
  result.launches = std::move(profile->launches);
  profile->verdict.max_error = std::max(profile->verdict.max_error, result.verdict.max_error);
  result.verdict = std::move(profile->verdict);
  return {};
}

Check sim_check(const SimRequest& request, std::shared_ptr<const jit::Compiler> compiler) {
  return [request, compiler = std::move(compiler)](const codegen::KernelSpec& spec) {
    return check_on_sim(*compiler, spec,
                        [&](const tuner::SimVerifier& verifier, VerifiedKernel& result) {
                          return simulate(request, verifier, spec, result);
                        });
  };
}

// The mode that was asked for; none for both.
std::optional<ptxsim::AsyncMode> async_mode(const VerifyOptions& options) {
  for (const auto mode : {ptxsim::AsyncMode::early, ptxsim::AsyncMode::late}) {
    if (options.async == name_of(mode)) return mode;
  }
  return std::nullopt;
}

Expected<void> check_sim_options(const VerifyOptions& options) {
  if (options.backend != "sim" && (options.profile || !options.async.empty())) {
    return usage_error(fmt::format("{} is of the simulator; add --backend sim",
                                   options.profile ? "--profile" : "--async"));
  }
  const bool known = options.async.empty() || std::find(kAsyncModes.begin(), kAsyncModes.end(),
                                                        options.async) != kAsyncModes.end();
  if (known) return {};
  return usage_error("--async: " + unknown_name_message("mode", options.async, kAsyncModes));
}

Expected<void> check_options(const VerifyOptions& options, const Problem& problem) {
  if (auto known = check_backend(options.backend); !known) return known;
  if (auto checked = check_sim_options(options); !checked) return checked;
  if (flops(problem) > kMostFlops) {
    return usage_error(fmt::format(
        "{} is too large to verify: the reference is computed on the CPU, many times; sizes just "
        "above the tile's find the same errors (default: 301x333x77)",
        to_string(problem.shape)));
  }
  return {};
}

}  // namespace

bool VerifyReport::correct() const {
  return std::all_of(kernels.begin(), kernels.end(),
                     [](const VerifiedKernel& kernel) { return kernel.correct(); });
}

Expected<VerifyReport> verify(const Context& context, const VerifyOptions& options,
                              const std::atomic<bool>& stop,
                              const std::function<void(const VerifiedKernel&)>& on_kernel) {
  auto wanted = parse_problem(options.problem);
  if (!wanted) return tl::unexpected(wanted.error());
  const Problem problem = canonical(*wanted);
  if (auto checked = check_options(options, problem); !checked)
    return tl::unexpected(checked.error());
  const Machine machine = find_machine(context);
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  auto specs = choose_kernels(options, problem, *target);
  if (!specs) return tl::unexpected(specs.error());
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  if (auto served = (*compiler)->nvrtc().check_arch(target->arch); !served)
    return tl::unexpected(served.error());
  VerifyReport report{options.strategy, options.backend, "", *target, 0, std::nullopt, {}};
  if (options.profile) report.profiled = problem;
  const bool on_gpu = options.backend == "gpu";
  if (!on_gpu) report.async = options.async.empty() ? kBothModes : options.async;
  auto check = on_gpu
                   ? gpu_check(machine, problem, *target, *compiler, report.cases)
                   : Expected<Check>(sim_check({async_mode(options), report.profiled}, *compiler));
  if (!check) return tl::unexpected(check.error());
  for (const codegen::KernelSpec& spec : *specs) {
    if (stop.load()) break;
    auto kernel = (*check)(spec);
    if (!kernel) return tl::unexpected(kernel.error());
    if (on_kernel) on_kernel(*kernel);
    report.kernels.push_back(std::move(*kernel));
  }
  return report;
}

}  // namespace gemmtune::app
