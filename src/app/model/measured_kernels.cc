#include "app/model/measured_kernels.h"

#include <optional>
#include <utility>

#include "app/common/records.h"
#include "tuner/session/candidate.h"

namespace gemmtune::app {
namespace {

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

Expected<std::vector<MeasuredKernel>> kernels_of(store::RecordStore& store, const store::Job& job,
                                                 store::Filter filter) {
  filter.arch = job.arch;
  filter.device_uuid = job.device_uuid;
  auto records = store.candidates(job.problem, filter);
  if (!records) return tl::unexpected(records.error());
  std::vector<MeasuredKernel> found;
  for (const store::Record& record : *records) {
    const auto spec = was_measured(record) ? tuner::kernel_of(record) : std::nullopt;
    if (!spec) continue;
    auto us = measured_us(store, record);
    if (!us) return tl::unexpected(us.error());
    found.push_back({*spec, *us});
  }
  return found;
}

bool is_of_gpu(const store::Job& job) {
  return !job.device_uuid.empty() && !is_modelled(job.device_uuid);
}

}  // namespace

Expected<std::vector<MeasuredJob>> measured_kernels(store::RecordStore& store,
                                                    const FilterOptions& options) {
  auto filter = parse_filter(options);
  if (!filter) return tl::unexpected(filter.error());
  auto devices = resolve_device_of(store, options.device, *filter);
  if (!devices) return tl::unexpected(devices.error());
  auto best = store.list(*filter, store::ListOrder::by_problem);
  if (!best) return tl::unexpected(best.error());
  std::vector<MeasuredJob> jobs;
  for (store::Record& record : *best) {
    const auto device = devices->find(record.job.device_uuid);
    if (!is_of_gpu(record.job) || device == devices->end()) continue;
    if (!is_known(record.job.arch)) continue;
    auto kernels = kernels_of(store, record.job, *filter);
    if (!kernels) return tl::unexpected(kernels.error());
    const DeviceSpec limits = device_limits(device->second.device, record.job.arch);
    jobs.push_back({std::move(record.job), limits, *std::move(kernels)});
  }
  return jobs;
}

}  // namespace gemmtune::app
