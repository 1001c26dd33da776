#include "app/ladder/ladder.h"
#include "app/tune/spaces.h"

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "app/common/target_json.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

ordered_json rung_json(size_t index, const tuner::Rung& rung,
                       const std::optional<RungFigures>& figures) {
  ordered_json json;
  json["rung"] = index + 1;
  json["strategy"] = rung.strategy->name();
  json["summary"] = rung.strategy->summary();
  for (const char* key : {"gflops", "percent_of_cublaslt", "gain", "flops_per_global_byte",
                          "flops_per_shared_byte"}) {
    json[key] = nullptr;
  }
  if (figures) {
    json["gflops"] = figures->gflops;
    json["percent_of_cublaslt"] = or_null(figures->percent);
    json["gain"] = or_null(figures->gain);
    json["flops_per_global_byte"] = figures->flops_per_global_byte;
    json["flops_per_shared_byte"] = or_null(figures->flops_per_shared_byte);
  }
  json["tried"] = rung.tried;
  json["record"] = to_json(rung.best);
  json["note"] = rung.note;
  return json;
}

}  // namespace

std::string ladder_json(const LadderSummary& summary) {
  const tuner::LadderReport& report = summary.report;
  ordered_json json = target_json(summary.target);
  json["problem"] = to_json(summary.problem);
  json["key"] = key(summary.problem);
  json["warm"] = report.job.warm;
  json["rungs"] = ordered_json::array();
  const auto figures = rung_figures(report);
  for (size_t i = 0; i < report.rungs.size(); ++i)
    json["rungs"].push_back(rung_json(i, report.rungs[i], figures[i]));
  json["vendor_first"] = to_json(report.vendor.first);
  json["vendor_best"] = to_json(report.vendor.best);
  json["skipped"] = ordered_json::array();
  for (const Refusal& refusal : summary.refusals)
    json["skipped"].push_back({{"strategy", refusal.strategy->name()}, {"reason", refusal.reason}});
  json["seconds"] = report.seconds;
  json["interrupted"] = report.interrupted;
  return to_text(json, 2);
}

}  // namespace gemmtune::app
