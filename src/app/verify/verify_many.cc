#include "app/verify/verify_many.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "codegen/search_space.h"
#include "core/json_text.h"
#include "core/parallel.h"
#include "shipped/shipped_results.h"
#include "tuner/session/candidate.h"
#include "tuner/verify/gpu_verifier.h"
#include "tuner/verify/random_cases.h"

namespace gemmtune::app {
namespace {

constexpr size_t kCasesOfKernel = 10;

struct KernelCases {
  codegen::KernelSpec spec;
  std::vector<tuner::VerificationCase> cases;
};

// Checks a kernel on its cases; an error means that nothing further can be checked.
using CasesCheck = std::function<Expected<VerifiedKernel>(const KernelCases&)>;

// On a GPU cases go over several tiles; the simulator is too slow for that.
constexpr int kGpuScale = 2;
constexpr int kSimScale = 1;

CasesCheck cases_check_on_gpu(std::shared_ptr<const gpu::Context> context,
                              std::shared_ptr<const jit::Compiler> compiler) {
  return [context = std::move(context), compiler = std::move(compiler)](const KernelCases& item) {
    return check_on_gpu(context, *compiler, item.spec,
                        [&](const launch::LoadedKernel& kernel) -> gpu::Result<tuner::Verdict> {
                          auto verifier = tuner::GpuVerifier::create(context, item.cases);
                          if (!verifier) return tl::unexpected(verifier.error());
                          return verifier->verify(kernel);
                        });
  };
}

CasesCheck cases_check_on_sim(std::shared_ptr<const jit::Compiler> compiler) {
  return [compiler = std::move(compiler)](const KernelCases& item) {
    const auto simulate = [&](const tuner::SimVerifier& verifier,
                              VerifiedKernel& result) -> Expected<void> {
      auto verdict = verifier.verify(item.cases, verifier.async_modes(), {});
      if (!verdict) return tl::unexpected(verdict.error());
      result.verdict = *std::move(verdict);
      return {};
    };
    return check_on_sim(*compiler, item.spec, simulate);
  };
}

Expected<CasesCheck> make_cases_check(const Context& context, const VerifyManyOptions& options,
                                      const Machine& machine, const Target& target) {
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  if (auto served = (*compiler)->nvrtc().check_arch(target.arch); !served)
    return tl::unexpected(served.error());
  if (options.backend == "sim") return cases_check_on_sim(*compiler);
  auto device = retain_device(machine, target);
  if (!device) return tl::unexpected(device.error());
  return cases_check_on_gpu(*device, *compiler);
}

Expected<std::vector<const codegen::Strategy*>> strategies_called(const std::string& name) {
  const auto all = codegen::strategies();
  if (name.empty()) return std::vector(all.begin(), all.end());
  auto found = codegen::find_strategy(name);
  if (!found) return tl::unexpected(found.error());
  return std::vector{*found};
}

int scale_of(const VerifyManyOptions& options) {
  return options.backend == "sim" ? kSimScale : kGpuScale;
}

std::vector<KernelCases> draw_kernels(const codegen::SearchSpace& space,
                                      const VerifyManyOptions& options, const Target& target) {
  std::mt19937_64 random(options.seed);
  std::vector<KernelCases> drawn;
  for (auto left = static_cast<size_t>(options.random_cases); left > 0;) {
    const auto spec = tuner::random_kernel(space, target.limits, random);
    if (!spec) break;
    const size_t count = std::min(left, kCasesOfKernel);
    drawn.push_back({*spec, tuner::random_cases(*spec, scale_of(options), count, random)});
    left -= count;
  }
  return drawn;
}

// Each kernel once, whatever problems and models it won, and that for a beta other than 0.
std::vector<KernelCases> shipped_kernels(const std::vector<store::Entry>& shipped,
                                         const codegen::Strategy& strategy,
                                         const VerifyManyOptions& options, const Target& target) {
  std::vector<KernelCases> kernels;
  std::set<std::string> names;
  for (const store::Entry& entry : shipped) {
    const auto usual = tuner::kernel_of(entry.record);
    if (!usual || usual->strategy != &strategy || !runs_on(usual->arch, target.arch)) continue;
    for (const auto& spec : {*usual, codegen::fetching_c(*usual, target.limits)}) {
      if (!names.insert(codegen::candidate_name(spec)).second) continue;
      tuner::CaseSizes sizes = tuner::ragged_sizes(spec.tile);
      for (int64_t* size : {&sizes.m, &sizes.n, &sizes.k}) *size *= scale_of(options);
      kernels.push_back(
          {spec, tuner::verification_cases(tuner::kind_of(spec), sizes, tuner::Effort::thorough)});
    }
  }
  return kernels;
}

Expected<std::vector<KernelCases>> kernels_of(const std::vector<store::Entry>& shipped,
                                              const codegen::Strategy& strategy,
                                              const VerifyManyOptions& options,
                                              const Target& target) {
  if (options.random_cases == 0) return shipped_kernels(shipped, strategy, options, target);
  auto space = codegen::default_search_space(strategy);
  if (!space) return tl::unexpected(space.error());
  return draw_kernels(*space, options, target);
}

// Of those kernels that were checked before `stop`. An error is the first one's.
Expected<VerifiedStrategy> check_kernels(const std::string& strategy,
                                         const std::vector<KernelCases>& kernels,
                                         const CasesCheck& check, int jobs,
                                         const std::atomic<bool>& stop) {
  std::vector<std::optional<Expected<VerifiedKernel>>> results(kernels.size());
  std::atomic<bool> lost = false;
  for_each_index(kernels.size(), jobs, [&](size_t i) {
    if (stop.load() || lost.load()) return;
    results[i] = check(kernels[i]);
    if (!*results[i]) lost = true;
  });
  VerifiedStrategy all;
  all.strategy = strategy;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!results[i]) continue;
    Expected<VerifiedKernel>& result = *results[i];
    if (!result) return tl::unexpected(result.error());
    ++all.kernels;
    all.cases += kernels[i].cases.size();
    all.max_error = std::max(all.max_error, result->verdict.max_error);
    if (result->correct()) continue;
    result->config = codegen::candidate_name(kernels[i].spec) + ": " + result->config;
    all.wrong.push_back(*std::move(result));
  }
  return all;
}

}  // namespace

bool VerifyManyReport::correct() const {
  return std::all_of(strategies.begin(), strategies.end(),
                     [](const VerifiedStrategy& one) { return one.wrong.empty(); });
}

Expected<VerifyManyReport> verify_many(
    const Context& context, const VerifyManyOptions& options, const std::atomic<bool>& stop,
    const std::function<void(const VerifiedStrategy&)>& on_strategy) {
  if (auto known = check_backend(options.backend); !known) return tl::unexpected(known.error());
  const auto strategies = strategies_called(options.strategy);
  if (!strategies) return tl::unexpected(strategies.error());
  const Machine machine = find_machine(context);
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  auto check = make_cases_check(context, options, machine, *target);
  if (!check) return tl::unexpected(check.error());
  Expected<std::vector<store::Entry>> shipped;
  if (options.random_cases == 0) shipped = shipped::entries();
  if (!shipped) return tl::unexpected(shipped.error());
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  VerifyManyReport report{options.backend, *target, options.random_cases == 0,
                          options.seed,    {},      false};
  for (const codegen::Strategy* strategy : *strategies) {
    const auto kernels = kernels_of(*shipped, *strategy, options, *target);
    if (!kernels) return tl::unexpected(kernels.error());
    if (kernels->empty()) continue;  // it does not run there
    auto verified = check_kernels(std::string(strategy->name()), *kernels, *check,
                                  options.jobs > 0 ? options.jobs : cores, stop);
    if (!verified) return tl::unexpected(verified.error());
    if (on_strategy) on_strategy(*verified);
    report.strategies.push_back(*std::move(verified));
    report.interrupted = stop.load();
    if (report.interrupted) break;
  }
  if (report.strategies.empty()) {
    return make_error(
        ErrorKind::unsupported,
        fmt::format("{}no kernel of {} runs on {}", report.shipped ? "of what is shipped " : "",
                    options.strategy.empty() ? "any strategy" : options.strategy,
                    to_string(target->arch)));
  }
  return report;
}

std::string verify_many_json(const VerifyManyReport& report) {
  nlohmann::ordered_json json;
  json["backend"] = report.backend;
  json["arch"] = to_string(report.target.arch);
  json["device"] = nullptr;
  if (report.target.device) json["device"] = report.target.device->name;
  json["shipped"] = report.shipped;
  json["seed"] = report.seed;
  json["correct"] = report.correct();
  json["interrupted"] = report.interrupted;
  json["strategies"] = nlohmann::ordered_json::array();
  for (const VerifiedStrategy& one : report.strategies) {
    nlohmann::ordered_json wrong = nlohmann::ordered_json::array();
    for (const VerifiedKernel& kernel : one.wrong) {
      wrong.push_back({{"config", kernel.config},
                       {"verdict", outcome_of(kernel)},
                       {"detail", detail_of(kernel)}});
    }
    json["strategies"].push_back({{"strategy", one.strategy},
                                  {"kernels", one.kernels},
                                  {"cases", one.cases},
                                  {"max_error", one.max_error},
                                  {"wrong", std::move(wrong)}});
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
