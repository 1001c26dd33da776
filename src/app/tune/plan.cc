#include "app/tune/plan.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "app/common/record_json.h"
#include "app/common/records.h"
#include "app/common/target_json.h"
#include "app/tune/problems_in_turns.h"
#include "app/tune/shard.h"
#include "app/tune/spaces.h"
#include "app/tune/thin_rows.h"
#include "core/json_text.h"
#include "core/roofline.h"

namespace gemmtune::app {
namespace {

// An exhaustive search tries everything, where no number was asked for. Why it cannot; else empty.
std::string take_all(tuner::TuneRequest& request, const Target& target) {
  constexpr size_t kMost = 100'000;
  const size_t points = tuner::count_points(request, target.limits, kMost);
  request.max_candidates = static_cast<int>(points);
  if (points < kMost) return {};
  return fmt::format(
      "{} legal tiles or more are too many to try all; narrow the search by "
      "--strategy, --space or --candidates",
      kMost);
}

// Plans all problems; an error if nothing is left to do.
Expected<std::vector<PlannedProblem>> plan_all(const std::vector<WantedProblem>& wanted,
                                               const std::vector<codegen::SearchSpace>& spaces,
                                               const Target& target, const SearchOptions& options) {
  std::vector<PlannedProblem> all;
  for (const WantedProblem& problem : wanted) {
    all.push_back(plan_problem(problem, spaces, target, options));
    if (!all.back().skipped.empty()) continue;
    if (auto fits = check_operands_fit(problem.problem, target); !fits) {
      if (problem.group.empty()) return tl::unexpected(fits.error());
      all.back().skipped = fits.error().message;
    }
  }
  const bool any =
      std::any_of(all.begin(), all.end(), [](const auto& p) { return p.skipped.empty(); });
  if (any) return all;
  return make_error(ErrorKind::unsupported, all.front().wanted.text + ": " + all.front().skipped);
}

// By what a step of the program spends on them, most first; those that are skipped come last.
std::vector<size_t> in_order(const std::vector<PlannedProblem>& problems) {
  const auto weight = [&](size_t i) {
    const PlannedProblem& planned = problems[i];
    return planned.skipped.empty() ? static_cast<double>(planned.wanted.count) * planned.floor_us
                                   : 0;
  };
  std::vector<size_t> order(problems.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(a) > weight(b); });
  return order;
}

// All of them so many times, one behind the other.
std::vector<Device> repeated(const std::vector<Device>& devices, size_t times) {
  std::vector<Device> out;
  for (size_t i = 0; i < times; ++i) out.insert(out.end(), devices.begin(), devices.end());
  return out;
}

// Leaves no more devices than there are problems: each problem is tuned on one.
void trim_devices(Target& target, const std::vector<PlannedProblem>& problems) {
  const size_t most = count_planned(problems);
  if (target.devices.size() > most) target.devices.resize(most);
}

// The problems that were asked for, of the shard that was.
Expected<std::vector<WantedProblem>> wanted_problems(const Context& context,
                                                     const TuneOptions& options) {
  auto wanted = parse_problems(options.problems);
  if (!wanted) return wanted;
  if (options.thin_rows) {
    const size_t left_out = thin_rows(*wanted);
    context.log->info("--thin-rows leaves out {} of {} problems", left_out,
                      left_out + wanted->size());
  }
  if (options.shard.empty()) return wanted;
  const auto shard = parse_shard(options.shard);
  if (!shard) return tl::unexpected(shard.error());
  return take_shard(std::move(*wanted), *shard);
}

}  // namespace

PlannedProblem plan_problem(const WantedProblem& wanted,
                            const std::vector<codegen::SearchSpace>& spaces, const Target& target,
                            const SearchOptions& options) {
  PlannedProblem planned{wanted, {}, floor_us(wanted.problem, target.limits), wanted.unsupported};
  if (!planned.skipped.empty()) return planned;
  if (auto supported = supported_spaces(wanted.problem, spaces, target); supported) {
    planned.request = make_request(options, kTuneCandidates, wanted.problem,
                                   std::move(supported->spaces), target);
    planned.request.until_settled =
        !options.candidates && options.method == tuner::SearchMethod::model;
    if (options.method == tuner::SearchMethod::exhaustive && !options.candidates)
      planned.skipped = take_all(planned.request, target);
  } else {
    planned.skipped = supported.error().message;
  }
  return planned;
}

void put_unanswered_first(store::RecordStore& store, const Target& target, bool warm,
                          const std::vector<PlannedProblem>& planned, std::vector<size_t>& order) {
  std::vector<Device> devices = target.devices;
  if (devices.empty() && target.device) devices.push_back(*target.device);
  const auto unanswered = [&](size_t problem) {
    if (!planned[problem].skipped.empty()) return false;  // nor will it be
    return std::none_of(devices.begin(), devices.end(), [&](const Device& device) {
      store::Filter filter;
      filter.arch = target.arch;
      filter.device_uuid = device.uuid;
      filter.provenance = store::Provenance::measured;
      filter.warm = warm;
      const auto best = store.best(canonical(planned[problem].wanted.problem), filter);
      return best && *best && !(*best)->stale && (*best)->measurement &&
             (*best)->measurement->final_round;
    });
  };
  std::stable_partition(order.begin(), order.end(), unanswered);
}

size_t count_planned(const std::vector<PlannedProblem>& problems) {
  return static_cast<size_t>(
      std::count_if(problems.begin(), problems.end(),
                    [](const PlannedProblem& planned) { return planned.skipped.empty(); }));
}

std::vector<size_t> planned_order(const TunePlan& plan) {
  std::vector<size_t> order = plan.order;
  std::erase_if(order, [&](size_t i) { return !plan.problems[i].skipped.empty(); });
  return order;
}

Expected<TunePlan> plan_tune(const Context& context, const TuneOptions& options) {
  auto wanted = wanted_problems(context, options);
  if (!wanted) return tl::unexpected(wanted.error());
  const auto method = parse_method(options.method);
  if (!method) return tl::unexpected(method.error());
  auto spaces = choose_spaces(options.strategies, options.space_files);
  if (!spaces) return tl::unexpected(spaces.error());
  Machine machine = find_machine(context);
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  SearchOptions search = options.search;
  search.method = *method;
  if (!options.budget.empty()) {
    if (auto taken = take_budget(options.budget, search); !taken)
      return tl::unexpected(taken.error());
  }
  auto planned = plan_all(*wanted, *spaces, *target, search);
  if (!planned) return tl::unexpected(planned.error());
  auto order = in_order(*planned);
  if (target->device && !search.fresh) {
    // A database that cannot be read says so when it is written.
    if (auto store = open_records(context, true))
      put_unanswered_first(**store, *target, search.warm, *planned, order);
  }
  if (const size_t in_turns = problems_in_turns(options, search, *target, *planned); in_turns > 1)
    target->devices = repeated(target->measuring(), in_turns);
  trim_devices(*target, *planned);
  return TunePlan{std::move(machine), *std::move(target), search, *std::move(planned),
                  std::move(order)};
}

std::string plan_json(const TunePlan& plan) {
  nlohmann::ordered_json json = target_json(plan.target);
  json["devices"] = devices_json(plan.target);
  json["problems"] = nlohmann::ordered_json::array();
  json["skipped"] = nlohmann::ordered_json::array();
  for (const size_t i : plan.order) {
    const PlannedProblem& planned = plan.problems[i];
    if (!planned.skipped.empty()) {
      json["skipped"].push_back({{"problem", planned.wanted.text}, {"reason", planned.skipped}});
      continue;
    }
    nlohmann::ordered_json strategies = nlohmann::ordered_json::array();
    for (const codegen::SearchSpace& space : planned.request.spaces)
      strategies.push_back(space.strategy->name());
    json["problems"].push_back(
        {{"problem", to_json(planned.wanted.problem)},
         {"key", planned.wanted.text},
         {"count", planned.wanted.count},
         {"floor_us", planned.floor_us},
         {"strategies", std::move(strategies)},
         {"candidates", planned.request.max_candidates},
         {"seconds", planned.request.max_seconds > 0
                         ? nlohmann::ordered_json(planned.request.max_seconds)
                         : nlohmann::ordered_json(nullptr)}});
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
