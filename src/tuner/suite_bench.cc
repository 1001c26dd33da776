#include "tuner/suite_bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emitter.h"
#include "tuner/statistics.h"

namespace gemmtune::tuner {
namespace {

BenchSide to_side(const store::Measurement& measurement, std::string config) {
  return {measurement.median_us, measurement.ci_low_us, measurement.ci_high_us, std::move(config)};
}

// What the store holds of a problem, ready to run; nothing, with a note, where that fails.
struct OwnKernel {
  std::optional<Finalist> finalist;
  std::string note;
};

Expected<OwnKernel> find_own(const Problem& problem, const DeviceServices& services,
                             store::RecordStore& store, const EvaluationOptions& options) {
  store::Filter filter;
  filter.device_uuid = services.device.uuid;
  filter.provenance = store::Provenance::measured;
  filter.warm = options.warm;
  auto best = store.best(problem, filter);
  if (!best) return tl::unexpected(best.error());
  OwnKernel own;
  if (!*best) {
    own.note = "not tuned on this device";
    return own;
  }
  const store::Record& record = **best;
  const auto spec = kernel_of(record);
  if (!spec) {
    own.note = "the stored kernel is of another version of gemm-tune";
    return own;
  }
  Candidate candidate = make_candidate(*spec, record.key.compiler_version);
  if (candidate.key != record.key) own.note = "its source has changed since it was tuned";
  auto compiled = services.compiler->compile({candidate.source, record.job.arch, {}});
  if (!compiled) {
    own.note = "the stored kernel does not compile: " + compiled.error().first_error;
    return own;
  }
  own.finalist = Finalist{std::move(candidate), std::move(*compiled)};
  return own;
}

}  // namespace

Expected<SuiteBenchRow> bench_entry(const SuiteEntry& entry, const DeviceServices& services,
                                    store::RecordStore& store, const EvaluationOptions& options) {
  SuiteBenchRow row;
  row.entry = entry;
  row.note = entry.unsupported;
  if (!row.note.empty()) return row;
  const Problem problem = canonical(entry.problem);
  auto own = find_own(problem, services, store, options);
  if (!own) return tl::unexpected(own.error());
  row.note = own->note;
  auto evaluator = DeviceEvaluator::create(services, problem, options);
  if (!evaluator) {
    if (evaluator.error().kind != ErrorKind::usage) return tl::unexpected(evaluator.error());
    row.note = evaluator.error().message;
    return row;
  }
  if (auto vendor = (*evaluator)->measure_vendor(); !vendor) return tl::unexpected(vendor.error());
  std::vector<Finalist> finalists;
  if (own->finalist) finalists.push_back(std::move(*own->finalist));
  auto results = (*evaluator)->finish(finalists);
  if (!results) return tl::unexpected(results.error());
  for (const VendorResult& vendor : results->vendor) {
    const BenchSide side = to_side(vendor.measurement, vendor.config);
    if (vendor.rank == 0) row.vendor_first = side;
    if (!row.vendor_best || side.median_us < row.vendor_best->median_us) row.vendor_best = side;
  }
  if (results->finalists.empty()) return row;
  const Evaluation& evaluation = results->finalists.front();
  const store::CandidateKey& key = finalists.front().candidate.key;
  if (evaluation.outcome != store::Outcome::ok || !evaluation.measurement) {
    row.note = fmt::format("{}: {}", store::to_string(evaluation.outcome), evaluation.reason);
  } else {
    row.own = to_side(*evaluation.measurement, key.strategy + " " + key.config);
  }
  return row;
}

namespace {

GroupMean mean_over(std::string name, std::span<const SuiteBenchRow> rows,
                    const std::string* only_group) {
  GroupMean mean;
  mean.group = std::move(name);
  std::vector<double> first;
  std::vector<double> best;
  for (const SuiteBenchRow& row : rows) {
    if (only_group != nullptr && row.entry.group != *only_group) continue;
    ++mean.rows;
    if (!row.own || !row.vendor_first || !row.vendor_best) continue;
    ++mean.compared;
    first.push_back(row.vendor_first->median_us / row.own->median_us);
    best.push_back(row.vendor_best->median_us / row.own->median_us);
  }
  mean.own_vs_first = geometric_mean(first);
  mean.own_vs_best = geometric_mean(best);
  return mean;
}

}  // namespace

std::vector<GroupMean> group_means(std::span<const SuiteBenchRow> rows) {
  std::vector<std::string> groups;
  for (const SuiteBenchRow& row : rows) {
    if (std::find(groups.begin(), groups.end(), row.entry.group) == groups.end())
      groups.push_back(row.entry.group);
  }
  std::vector<GroupMean> means;
  means.reserve(groups.size() + 1);
  for (const std::string& group : groups) means.push_back(mean_over(group, rows, &group));
  if (groups.size() > 1) means.push_back(mean_over("all", rows, nullptr));
  return means;
}

}  // namespace gemmtune::tuner
