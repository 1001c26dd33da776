#include "app/query/diff.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/common/record_facts.h"
#include "app/common/records.h"

namespace gemmtune::app {
namespace {

using store::Record;

auto place(const Record& record) {
  const store::Job& job = record.job;
  return std::tuple(key(job.problem), to_string(job.arch), job.device_uuid, job.warm);
}

// A prediction is never compared with a measurement.
std::optional<double> ratio(const Record& a, const Record& b) {
  const auto time_a = time_us(a);
  const auto time_b = time_us(b);
  if (!time_a || !time_b || a.provenance != b.provenance) return std::nullopt;
  return *time_a / *time_b;
}

bool within(const DiffRow& row, double threshold_percent) {
  if (!row.ratio || threshold_percent <= 0) return false;
  return std::max(*row.ratio, 1 / *row.ratio) <= 1 + threshold_percent / 100;
}

bool slower_in_b_first(const DiffRow& x, const DiffRow& y) {
  if (x.ratio.has_value() != y.ratio.has_value()) return x.ratio.has_value();
  return x.ratio && *x.ratio < *y.ratio;
}

Expected<std::unique_ptr<store::RecordStore>> open_side(const std::string& file,
                                                        DeviceNames& devices) {
  auto store = open_other_records(file);
  if (!store) return store;
  auto names = device_names(**store);
  if (!names) return tl::unexpected(names.error());
  devices.merge(*names);
  return store;
}

}  // namespace

StoreDiff compare_records(const std::vector<Record>& a, const std::vector<Record>& b,
                          double threshold_percent) {
  StoreDiff diff;
  std::map<decltype(place(a.front())), const Record*> of_b;
  for (const Record& record : b) of_b.emplace(place(record), &record);
  for (const Record& record : a) {
    const auto found = of_b.find(place(record));
    if (found == of_b.end()) {
      diff.only_a.push_back(record);
      continue;
    }
    const Record& other = *found->second;
    const bool changed =
        record.key.strategy != other.key.strategy || record.key.config != other.key.config;
    DiffRow row{record, other, ratio(record, other), changed};
    of_b.erase(found);
    if (within(row, threshold_percent)) {
      ++diff.within_threshold;
    } else {
      diff.rows.push_back(std::move(row));
    }
  }
  for (const Record& record : b) {
    if (of_b.contains(place(record))) diff.only_b.push_back(record);
  }
  std::stable_sort(diff.rows.begin(), diff.rows.end(), slower_in_b_first);
  return diff;
}

Expected<StoreDiff> diff(const DiffOptions& options) {
  auto filter = parse_filter(options.filter);
  if (!filter) return tl::unexpected(filter.error());
  if (!options.filter.warm) filter->warm.reset();
  DeviceNames devices;
  auto a = open_side(options.file_a, devices);
  if (!a) return tl::unexpected(a.error());
  auto b = open_side(options.file_b, devices);
  if (!b) return tl::unexpected(b.error());
  if (auto found = resolve_device(options.filter.device, devices, *filter); !found)
    return tl::unexpected(found.error());
  auto records_a = (*a)->list(*filter, store::ListOrder::by_problem);
  if (!records_a) return tl::unexpected(records_a.error());
  auto records_b = (*b)->list(*filter, store::ListOrder::by_problem);
  if (!records_b) return tl::unexpected(records_b.error());
  StoreDiff diff = compare_records(*records_a, *records_b, options.threshold_percent);
  diff.file_a = options.file_a;
  diff.file_b = options.file_b;
  diff.devices = std::move(devices);
  return diff;
}

}  // namespace gemmtune::app
