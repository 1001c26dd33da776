#include "app/model/model_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/common/records.h"
#include "app/model/measured_kernels.h"
#include "core/output_file.h"
#include "tuner/model/known_calibration.h"

namespace gemmtune::app {
namespace {

constexpr uint64_t kSeed = 1;

using FitSamples = std::vector<tuner::CalibrationSample>;

using SamplesOfArchs = std::map<std::string, std::pair<Arch, FitSamples>>;  // by the arch's name

// What was measured of `only`, an arch's name; empty: of all.
Expected<SamplesOfArchs> measured_samples(store::RecordStore& store, const std::string& only) {
  FilterOptions filter;
  filter.arch = only;
  const auto jobs = measured_kernels(store, filter);
  if (!jobs) return tl::unexpected(jobs.error());
  SamplesOfArchs of_arch;
  for (const MeasuredJob& job : *jobs) {
    const Arch arch = tuner::calibrated_arch(job.job.arch);
    auto& [found, samples] = of_arch[to_string(arch)];
    found = arch;
    for (const MeasuredKernel& kernel : job.kernels) {
      samples.push_back(
          tuner::calibration_sample(kernel.spec, job.job.problem, job.limits, kernel.us));
    }
  }
  return of_arch;
}

// How far times are off, up or down, as the logarithm of a factor.
double off(const tuner::ModelJudgement& judgement) {
  return std::hypot(std::log(judgement.ratio), std::log(judgement.spread));
}

// Whether searches do better with it than without.
bool is_better(const ArchFit& fit) {
  const tuner::HeldOutJudgement& all = fit.judged.back();
  return off(all.calibrated) < off(all.model) &&
         (!fit.shipped || off(all.calibrated) < off(*fit.shipped));
}

Expected<ArchFit> fit_arch(Arch arch, const FitSamples& samples, const FitOptions& options,
                           store::RecordStore& store) {
  const auto shipped = tuner::shipped_calibration(arch);
  auto calibration = tuner::Calibration::fit(samples, kSeed, shipped);
  if (!calibration) return tl::unexpected(calibration.error());
  ArchFit fit;
  fit.arch = arch;
  fit.judged = tuner::judge_held_out(*calibration, samples, kSeed);
  // What ships may have seen the shapes that are left out here.
  const double of_base = shipped ? shipped->held_out_spread().value_or(1) : 1;
  calibration->set_held_out_spread(std::max(fit.judged.back().calibrated.spread, of_base));
  FitSamples known;
  for (const tuner::CalibrationSample& sample : samples) {
    if (calibration->knows(sample.strategy)) known.push_back(sample);
  }
  if (shipped) fit.shipped = tuner::judge(*shipped, known);
  if (!options.output.empty()) {
    fit.text = calibration->to_json();
  } else if (is_better(fit)) {
    if (auto kept = store.keep_calibration(arch, calibration->to_json()); !kept)
      return tl::unexpected(kept.error());
    fit.kept = true;
  }
  return fit;
}

// The file of -o, opened before the fit: an unwritable one must not cost it. None for stdout.
Expected<std::optional<OutputFile>> open_output(const std::string& path) {
  if (path.empty() || path == "-") return std::nullopt;
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  return std::optional(*std::move(file));
}

}  // namespace

Expected<std::optional<ArchFit>> fit_if_grown(const Context& context, Arch arch) {
  constexpr double kGrowth = 1.5;
  const Arch calibrated = tuner::calibrated_arch(arch);
  auto store = open_existing_records(context);
  if (!store) return tl::unexpected(store.error());
  const auto text = (*store)->calibration(calibrated);
  if (!text) return tl::unexpected(text.error());
  const auto before = *text ? tuner::Calibration::from_json(**text) : tl::unexpected(Error{});
  const double wanted = before ? kGrowth * static_cast<double>(before->candidates()) : 0;
  const auto info = (*store)->info();
  if (!info) return tl::unexpected(info.error());
  if (static_cast<double>(info->candidates) < wanted) return std::nullopt;  // counted, not read
  const auto all = measured_samples(**store, to_string(calibrated));
  if (!all) return tl::unexpected(all.error());
  const auto found = all->find(to_string(calibrated));
  if (found == all->end()) return std::nullopt;
  const FitSamples& samples = found->second.second;
  if (static_cast<double>(samples.size()) < wanted) return std::nullopt;
  auto fit = fit_arch(calibrated, samples, {}, **store);
  if (!fit && fit.error().kind == ErrorKind::not_found) return std::nullopt;
  if (!fit) return tl::unexpected(fit.error());
  return fit->kept ? std::optional(*std::move(fit)) : std::nullopt;
}

Expected<ModelFit> model_fit(const Context& context, const FitOptions& options) {
  FilterOptions filter;
  filter.arch = options.arch;
  if (auto valid = parse_filter(filter); !valid) return tl::unexpected(valid.error());
  auto output = open_output(options.output);
  if (!output) return tl::unexpected(output.error());
  auto store =
      options.output.empty() ? open_existing_records(context) : open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  const auto samples = measured_samples(**store, options.arch);
  if (!samples) return tl::unexpected(samples.error());
  ModelFit all;
  all.output = options.output;
  std::string too_little;
  for (const auto& [name, of] : *samples) {
    auto fit = fit_arch(of.first, of.second, options, **store);
    if (!fit && fit.error().kind != ErrorKind::not_found) return tl::unexpected(fit.error());
    if (!fit) too_little = name + ": " + fit.error().message;
    if (fit) all.archs.push_back(*std::move(fit));
  }
  if (all.archs.empty()) {
    const std::string of_arch = options.arch.empty() ? "" : " on " + options.arch;
    return make_error(ErrorKind::not_found,
                      too_little.empty()
                          ? "no kernel of the database was measured" + of_arch +
                                "; predictions do not count: run gemm-tune tune on a GPU first"
                          : too_little + "; tune more problems first");
  }
  if (!options.output.empty() && all.archs.size() > 1)
    return usage_error("-o: one file holds the calibration of one arch; name it with --arch");
  if (*output) {
    (*output)->write(all.archs.front().text);
    if (auto written = (*output)->commit(); !written) return tl::unexpected(written.error());
  }
  return all;
}

}  // namespace gemmtune::app
