#include "app/bench/bench_summary.h"

#include <algorithm>
#include <utility>

#include "tuner/measure/statistics.h"

namespace gemmtune::app {
namespace {

BenchMeans means_of(std::span<const BenchRow* const> rows,
                    std::optional<BenchContender> BenchRow::*side) {
  std::vector<double> first;
  std::vector<double> best;
  for (const BenchRow* row : rows) {
    const auto time = time_of(row->*side);
    if (!time || !row->vendor_first || !row->vendor_best) continue;
    first.push_back(row->vendor_first->median_us / time->median_us);
    best.push_back(row->vendor_best->median_us / time->median_us);
  }
  return {static_cast<int>(first.size()), tuner::geometric_mean(first),
          tuner::geometric_mean(best)};
}

BenchStep step_of(std::span<const BenchRow* const> rows) {
  BenchStep step;
  for (const BenchRow* row : rows) {
    const int64_t calls = row->wanted.count;
    step.calls += calls;
    if (!row->compared()) continue;
    const auto weight = static_cast<double>(calls);
    step.compared += calls;
    step.dispatched_us += weight * row->dispatched->time->median_us;
    step.vendor_first_us += weight * row->vendor_first->median_us;
    step.vendor_best_us += weight * row->vendor_best->median_us;
  }
  return step;
}

BenchGroup group_of(std::string name, std::span<const BenchRow* const> rows) {
  return {std::move(name), static_cast<int>(rows.size()), step_of(rows),
          means_of(rows, &BenchRow::dispatched), means_of(rows, &BenchRow::own)};
}

}  // namespace

bool BenchRow::compared() const {
  return dispatched && dispatched->time && vendor_first && vendor_best;
}

std::optional<tuner::BenchSide> time_of(const std::optional<BenchContender>& contender) {
  return contender ? contender->time : std::nullopt;
}

std::optional<double> time_ratio(const std::optional<tuner::BenchSide>& vendor,
                                 const std::optional<tuner::BenchSide>& own) {
  if (!vendor || !own) return std::nullopt;
  return vendor->median_us / own->median_us;
}

std::optional<double> sustained_ratio(const std::optional<tuner::BenchSide>& vendor,
                                      const std::optional<tuner::BenchSide>& own) {
  if (!vendor || !own || !vendor->sustained || !own->sustained) return std::nullopt;
  return vendor->sustained->time_us / own->sustained->time_us;
}

std::optional<double> joules_per_tflop(const Problem& problem, const tuner::SustainedLoad& load) {
  const auto energy = load.energy_j();
  if (!energy) return std::nullopt;
  return *energy / (1e-12 * flops(problem));
}

double step_ratio(double vendor_us, const BenchStep& step) {
  return step.compared > 0 ? vendor_us / step.dispatched_us : 0;
}

std::vector<BenchGroup> bench_groups(std::span<const BenchRow> rows) {
  std::vector<std::pair<std::string, std::vector<const BenchRow*>>> members;
  std::vector<const BenchRow*> all;
  for (const BenchRow& row : rows) {
    const auto known = std::find_if(members.begin(), members.end(), [&](const auto& group) {
      return group.first == row.wanted.group;
    });
    auto& group = known == members.end() ? members.emplace_back() : *known;
    group.first = row.wanted.group;
    group.second.push_back(&row);
    all.push_back(&row);
  }
  std::vector<BenchGroup> groups;
  groups.reserve(members.size() + 1);
  for (const auto& [name, group] : members) groups.push_back(group_of(name, group));
  if (groups.size() > 1) groups.push_back(group_of("all", all));
  return groups;
}

}  // namespace gemmtune::app
