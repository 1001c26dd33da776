#include "app/bench/bench.h"
#include "app/bench/bench_summary.h"

#include <nlohmann/json.hpp>

#include "app/common/record_facts.h"
#include "app/common/record_json.h"
#include "app/common/version.h"
#include "core/device_json.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;
using Side = std::optional<tuner::BenchSide>;

ordered_json sustained_json(const std::optional<tuner::SustainedLoad>& load,
                            const Problem& problem) {
  if (!load) return nullptr;
  return {{"time_us", load->time_us},
          {"tflops", tflops(problem, load->time_us)},
          {"sm_clock_mhz", or_null(load->sm_clock_mhz)},
          {"power_w", or_null(load->power_w)},
          {"joules_per_tflop", or_null(joules_per_tflop(problem, *load))}};
}

ordered_json side_json(const Side& side, const Problem& problem) {
  if (!side) return nullptr;
  ordered_json json;
  json["median_us"] = side->median_us;
  json["ci_low_us"] = side->ci_low_us;
  json["ci_high_us"] = side->ci_high_us;
  json["tflops"] = tflops(problem, side->median_us);
  json["config"] = side->config;
  json["samples_us"] = side->samples_us;
  json["sm_clock_mhz"] = or_null(side->sm_clock_mhz);
  json["sustained"] = sustained_json(side->sustained, problem);
  return json;
}

// Null without a time.
ordered_json contender_json(const std::optional<BenchContender>& contender,
                            const Problem& problem) {
  ordered_json json = side_json(time_of(contender), problem);
  if (json.is_null()) return json;
  json["provenance"] = to_string(contender->provenance);
  json["borrowed_from"] = nullptr;
  if (contender->borrowed_from) json["borrowed_from"] = key(*contender->borrowed_from);
  json["reason"] = contender->reason;
  return json;
}

ordered_json row_json(const BenchRow& row) {
  const Problem& problem = row.wanted.problem;
  ordered_json json;
  json["group"] = row.wanted.group;
  json["text"] = row.wanted.text;
  json["problem"] = row.wanted.unsupported.empty() ? to_json(problem) : ordered_json(nullptr);
  json["count"] = row.wanted.count;
  json["dispatched"] = contender_json(row.dispatched, problem);
  json["own"] = contender_json(row.own, problem);
  json["vendor_first"] = side_json(row.vendor_first, problem);
  json["vendor_best"] = side_json(row.vendor_best, problem);
  json["dispatched_vs_first"] = or_null(time_ratio(row.vendor_first, time_of(row.dispatched)));
  json["dispatched_vs_best"] = or_null(time_ratio(row.vendor_best, time_of(row.dispatched)));
  json["own_vs_first"] = or_null(time_ratio(row.vendor_first, time_of(row.own)));
  json["own_vs_best"] = or_null(time_ratio(row.vendor_best, time_of(row.own)));
  json["sustained_vs_first"] = or_null(sustained_ratio(row.vendor_first, time_of(row.dispatched)));
  json["sustained_vs_best"] = or_null(sustained_ratio(row.vendor_best, time_of(row.dispatched)));
  json["note"] = row.note;
  return json;
}

ordered_json step_json(const BenchStep& step) {
  ordered_json json;
  json["calls"] = step.calls;
  json["compared"] = step.compared;
  json["dispatched_us"] = step.dispatched_us;
  json["vendor_first_us"] = step.vendor_first_us;
  json["vendor_best_us"] = step.vendor_best_us;
  json["vs_first"] = step_ratio(step.vendor_first_us, step);
  json["vs_best"] = step_ratio(step.vendor_best_us, step);
  return json;
}

ordered_json group_json(const BenchGroup& group) {
  return {{"group", group.name},
          {"rows", group.rows},
          {"compared", group.own.rows},
          {"own_vs_first", group.own.vs_first},
          {"own_vs_best", group.own.vs_best},
          {"dispatched_compared", group.dispatched.rows},
          {"dispatched_vs_first", group.dispatched.vs_first},
          {"dispatched_vs_best", group.dispatched.vs_best},
          {"step", step_json(group.step)}};
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  ordered_json json;
  json["tool_version"] = kVersion;
  json["device"] = device_json(*report.target.device);
  json["device"]["driver_version"] = report.driver_version;
  json["warm"] = report.warm;
  json["beta"] = report.beta;
  json["vendor_workspace_bytes"] = report.vendor_workspace_bytes;
  json["interrupted"] = report.interrupted;
  json["failure"] = report.failure;
  json["rows"] = ordered_json::array();
  for (const BenchRow& row : report.rows) json["rows"].push_back(row_json(row));
  json["groups"] = ordered_json::array();
  for (const BenchGroup& group : report.groups) json["groups"].push_back(group_json(group));
  return to_text(json, 2);
}

}  // namespace gemmtune::app
