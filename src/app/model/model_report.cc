#include "app/model/model_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "app/common/records.h"
#include "codegen/strategy.h"
#include "core/device.h"
#include "tuner/model/performance_model.h"
#include "tuner/session/candidate.h"

namespace gemmtune::app {
namespace {

using Judges = std::map<std::string, tuner::ModelJudge>;
using OfProblem = std::map<std::string, std::vector<tuner::JudgedCandidate>>;  // by strategy

// Of a search's series, if there is one; else of the final round.
Expected<double> measured_us(store::RecordStore& store, const store::Record& record) {
  if (!record.measurement->final_round) return record.measurement->median_us;
  auto history = store.history(record.id);
  if (!history) return tl::unexpected(history.error());
  std::optional<double> of_search;
  for (const store::Measurement& measurement : *history) {
    if (!measurement.final_round) of_search = measurement.median_us;
  }
  return of_search.value_or(record.measurement->median_us);
}

bool was_measured(const store::Record& record) {
  return record.measurement && record.provenance == store::Provenance::measured &&
         (record.outcome == store::Outcome::ok ||
          record.outcome == store::Outcome::eliminated_early);
}

// What is known of one problem on one device.
Expected<OfProblem> candidates_of(store::RecordStore& store, const store::Job& job,
                                  const Device& device, store::Filter filter) {
  filter.arch = job.arch;
  filter.device_uuid = job.device_uuid;
  auto records = store.candidates(job.problem, filter);
  if (!records) return tl::unexpected(records.error());
  const DeviceSpec limits = device_limits(device, job.arch);
  OfProblem found;
  for (const store::Record& record : *records) {
    const auto spec = was_measured(record) ? tuner::kernel_of(record) : std::nullopt;
    if (!spec) continue;
    auto us = measured_us(store, record);
    if (!us) return tl::unexpected(us.error());
    const int registers = spec->strategy->estimated_registers(*spec);
    const tuner::Prediction out = tuner::predict(*spec, registers, job.problem, limits);
    found[record.key.strategy].push_back({out.total_us, *us});
  }
  return found;
}

// The jobs that have results of a GPU.
Expected<std::vector<store::Job>> measured_jobs(store::RecordStore& store,
                                                const store::Filter& filter) {
  auto best = store.list(filter, store::ListOrder::by_problem);
  if (!best) return tl::unexpected(best.error());
  std::vector<store::Job> jobs;
  for (const store::Record& record : *best) {
    if (!record.job.device_uuid.empty() && !is_modelled(record.job.device_uuid))
      jobs.push_back(record.job);
  }
  return jobs;
}

}  // namespace

Expected<ModelReport> model_report(const Context& context, const FilterOptions& options) {
  auto filter = parse_filter(options);
  if (!filter) return tl::unexpected(filter.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto devices = resolve_device_of(**store, options.device, *filter);
  if (!devices) return tl::unexpected(devices.error());
  auto jobs = measured_jobs(**store, *filter);
  if (!jobs) return tl::unexpected(jobs.error());
  Judges judges;
  for (const store::Job& job : *jobs) {
    const auto device = devices->find(job.device_uuid);
    if (device == devices->end()) continue;
    auto found = candidates_of(**store, job, device->second.device, *filter);
    if (!found) return tl::unexpected(found.error());
    for (const auto& [strategy, candidates] : *found) judges[strategy].add(candidates);
  }
  ModelReport report;
  for (const auto& [strategy, judge] : judges)
    report.strategies.push_back({strategy, judge.judgement()});
  return report;
}

}  // namespace gemmtune::app
