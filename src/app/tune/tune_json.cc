#include "app/tune/tune.h"

#include <nlohmann/json.hpp>

#include "app/common/record_facts.h"
#include "app/common/record_json.h"
#include "app/common/target_json.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

// Of the best; null where nothing was measured.
ordered_json margin_json(const tuner::TuneReport& report) {
  if (report.ranking.empty()) return nullptr;
  const auto found = margin(report.ranking.front(), report.vendor.best);
  if (!found) return nullptr;
  return {{"ratio", found->ratio}, {"low", found->low}, {"high", found->high}};
}

ordered_json time_spent_json(const tuner::TimeSpent& spent) {
  return {{"vendor", spent.vendor},       {"choosing", spent.choosing}, {"waiting", spent.waiting},
          {"measuring", spent.measuring}, {"finals", spent.finals},     {"turns", spent.turns}};
}

ordered_json report_json(const tuner::TuneReport& report) {
  ordered_json json;
  json["ranking"] = ordered_json::array();
  for (const store::Record& record : report.ranking) json["ranking"].push_back(to_json(record));
  json["vendor_first"] = to_json(report.vendor.first);
  json["vendor_best"] = to_json(report.vendor.best);
  json["margin"] = margin_json(report);
  json["predicted_spread"] = or_null(report.predicted_spread);
  json["expected_gain"] = or_null(report.expected_gain);
  json["without_gain"] = or_null(report.without_gain);
  json["geometries"] = report.geometries;
  json["resumed"] = report.resumed;
  json["evaluated"] = report.evaluated;
  json["measured"] = report.measured;
  json["compiled"] = report.compiled;
  json["cached"] = report.cached;
  json["failures"] = ordered_json::object();
  for (const auto& [outcome, count] : report.failures) json["failures"][outcome] = count;
  json["seconds"] = report.seconds;
  json["busy_seconds"] = report.busy_seconds;
  json["seconds_of"] = time_spent_json(report.spent);
  json["interrupted"] = report.interrupted;
  return json;
}

ordered_json fit_json(const std::optional<ArchFit>& fit) {
  if (!fit) return nullptr;
  const tuner::HeldOutJudgement& all = fit->judged.back();
  return {{"candidates", all.calibrated.candidates},
          {"spread", all.calibrated.spread},
          {"spread_of_model", all.model.spread}};
}

}  // namespace

std::string tune_json(const TuneSummary& summary) {
  ordered_json json = target_json(summary.target);
  json["devices"] = devices_json(summary.target);
  json["interrupted"] = summary.interrupted;
  json["seconds"] = summary.seconds;
  json["busy_share"] = or_null(busy_share(summary));
  json["model_fit"] = fit_json(summary.fit);
  json["results"] = ordered_json::array();
  json["skipped"] = ordered_json::array();
  for (const TunedProblem& tuned : summary.problems) {
    if (!tuned.report) {
      json["skipped"].push_back({{"problem", tuned.wanted.text}, {"reason", tuned.skipped}});
      continue;
    }
    ordered_json result = report_json(*tuned.report);
    ordered_json entry;
    entry["problem"] = to_json(tuned.wanted.problem);
    entry["key"] = tuned.wanted.text;
    entry["device_uuid"] = tuned.device ? ordered_json(tuned.device->uuid) : ordered_json(nullptr);
    entry.update(result);
    json["results"].push_back(std::move(entry));
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
