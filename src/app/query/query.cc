#include "app/query/query.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/advice.h"
#include "app/common/borrowed_results.h"
#include "app/common/context.h"
#include "app/common/records.h"
#include "app/query/where.h"

namespace gemmtune::app {
namespace {

constexpr size_t kNeighbours = 5;

bool same_job(const store::Job& a, const store::Job& b) {
  return a.arch == b.arch && a.device_uuid == b.device_uuid && a.warm == b.warm;
}

// Groups the candidates of a problem, best first, by job. Where vendors' were asked for, one may be
// the best.
std::vector<QueryResult> best_of_jobs(const std::vector<store::Record>& candidates,
                                      const Conditions& conditions, bool of_vendors) {
  std::vector<QueryResult> results;
  for (const store::Record& record : candidates) {
    const bool may_win = record.outcome == store::Outcome::ok ||
                         (of_vendors && record.outcome == store::Outcome::vendor);
    if (!may_win || !all_hold(conditions, record)) continue;
    const bool known = std::any_of(results.begin(), results.end(), [&](const QueryResult& result) {
      return same_job(result.best.job, record.job);
    });
    if (!known) results.push_back({record, std::nullopt, std::nullopt});
  }
  for (QueryResult& result : results) {
    for (const store::Record& record : candidates) {
      if (record.outcome != store::Outcome::vendor || !record.measurement) continue;
      if (!same_job(result.best.job, record.job)) continue;
      if (record.key.config.starts_with("rank=0 ")) result.vendor_first = record;
      if (!result.vendor_best) result.vendor_best = record;  // they come best first
    }
  }
  return results;
}

}  // namespace

Expected<QueryAnswer> query(const Context& context, const QueryOptions& options) {
  auto problem = parse_problem(options.problem);
  if (!problem) return tl::unexpected(problem.error());
  auto filter = parse_filter(options.filter);
  if (!filter) return tl::unexpected(filter.error());
  // Before the store, so that a wrong column is said even where there is none.
  if (auto checked = parse_conditions(options.where, {}); !checked)
    return tl::unexpected(checked.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  QueryAnswer answer;
  answer.problem = *problem;
  auto devices = resolve_device_of(**store, options.filter.device, *filter);
  if (!devices) return tl::unexpected(devices.error());
  answer.devices = std::move(*devices);

  const auto conditions = parse_conditions(options.where, answer.devices);
  if (!conditions) return tl::unexpected(conditions.error());

  auto candidates = (*store)->candidates(*problem, *filter);
  if (!candidates) return tl::unexpected(candidates.error());
  if (candidates->empty()) {
    auto borrowed = borrow_results(**store, *problem, *filter);
    if (!borrowed) return tl::unexpected(borrowed.error());
    if (*borrowed) {
      answer.borrowed_from = (*borrowed)->problem;
      *candidates = std::move((*borrowed)->candidates);
    }
  }
  answer.results = best_of_jobs(*candidates, *conditions, filter->include_vendor);
  const bool tuned = !candidates->empty();
  std::erase_if(*candidates,
                [&](const store::Record& record) { return !all_hold(*conditions, record); });
  if (options.all) answer.candidates = std::move(*candidates);
  auto neighbours = (*store)->near(*problem, *filter, kNeighbours);
  if (!neighbours) return tl::unexpected(neighbours.error());
  std::erase_if(*neighbours, [&](const store::Neighbour& neighbour) {
    return !all_hold(*conditions, neighbour.record);
  });
  if (options.nearest) answer.neighbours = *neighbours;
  if (!answer.results.empty() || !answer.candidates.empty() || !answer.neighbours.empty())
    return answer;
  if (tuned && !options.where.empty()) {
    answer.nothing = fmt::format("no usable result for {} fulfils every --where{}", key(*problem),
                                 options.all ? "" : "; --all shows failures, too");
    return answer;
  }
  const std::string near =
      neighbours->empty() ? ""
                          : fmt::format("; {} similar problems: --nearest", neighbours->size());
  answer.nothing = fmt::format(
      "no result for {}{}{}", key(*problem), near,
      tune_advice(context, "; find one with: ", *problem, options.filter, answer.devices));
  return answer;
}

}  // namespace gemmtune::app
