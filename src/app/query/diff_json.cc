#include "app/query/diff.h"

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

ordered_json records_json(const std::vector<store::Record>& records) {
  ordered_json json = ordered_json::array();
  for (const store::Record& record : records) json.push_back(to_json(record));
  return json;
}

}  // namespace

std::string diff_json(const StoreDiff& diff) {
  ordered_json json;
  json["a"] = diff.file_a;
  json["b"] = diff.file_b;
  json["rows"] = ordered_json::array();
  for (const DiffRow& row : diff.rows) {
    ordered_json entry;
    entry["problem"] = to_json(row.a.job.problem);
    entry["key"] = key(row.a.job.problem);
    entry["ratio"] = row.ratio ? ordered_json(*row.ratio) : ordered_json(nullptr);
    entry["winner_changed"] = row.winner_changed;
    entry["a"] = to_json(row.a);
    entry["b"] = to_json(row.b);
    json["rows"].push_back(std::move(entry));
  }
  json["within_threshold"] = diff.within_threshold;
  json["only_a"] = records_json(diff.only_a);
  json["only_b"] = records_json(diff.only_b);
  return to_text(json, 2);
}

}  // namespace gemmtune::app
