#include "app/common/filter.h"
#include "app/query/query.h"

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

}  // namespace

std::string query_json(const QueryAnswer& answer) {
  ordered_json json;
  json["problem"] = to_json(answer.problem);
  json["key"] = key(answer.problem);
  json["borrowed_from"] = nullptr;
  if (answer.borrowed_from) json["borrowed_from"] = key(*answer.borrowed_from);
  json["results"] = ordered_json::array();
  for (const QueryResult& result : answer.results) {
    ordered_json entry;
    entry["best"] = to_json(result.best);
    entry["device"] = device_name(answer.devices, result.best.job.device_uuid);
    if (result.best.job.device_uuid.empty()) entry["device"] = nullptr;
    entry["vendor_first"] = to_json(result.vendor_first);
    entry["vendor_best"] = to_json(result.vendor_best);
    json["results"].push_back(std::move(entry));
  }
  json["candidates"] = ordered_json::array();
  for (const store::Record& record : answer.candidates)
    json["candidates"].push_back(to_json(record));
  json["nearest"] = ordered_json::array();
  for (const store::Neighbour& neighbour : answer.neighbours) {
    json["nearest"].push_back(
        {{"distance", neighbour.distance}, {"best", to_json(neighbour.record)}});
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
