#include "app/db/export.h"

#include <nlohmann/json.hpp>

#include "app/db/import.h"
#include "app/db/info.h"
#include "app/db/merge.h"
#include "app/db/pack.h"
#include "app/db/prune.h"
#include "app/db/upgrade.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

using Counts = std::vector<std::pair<std::string, int64_t>>;

ordered_json counts_json(const Counts& counts) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, number] : counts) json[name] = number;
  return json;
}

ordered_json counts_json(const store::MergeCounts& counts) {
  return {{"added", counts.added}, {"changed", counts.changed}, {"unchanged", counts.unchanged}};
}

// null for nothing.
ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

}  // namespace

std::string info_json(const DatabaseInfo& info) {
  const store::StoreInfo& c = info.counts;
  ordered_json json;
  json["database"] = info.path;
  json["schema_version"] = c.schema_version;
  json["file_bytes"] = c.file_bytes;
  json["devices"] = c.devices;
  json["problems"] = c.problems;
  json["runs"] = c.runs;
  json["candidates"] = c.candidates;
  json["stale"] = c.stale;
  json["measurements"] = c.measurements;
  json["claims"] = c.claims;
  json["outcomes"] = counts_json(c.outcomes);
  json["provenances"] = counts_json(c.provenances);
  json["first_write"] = text_or_null(c.first_write);
  json["last_write"] = text_or_null(c.last_write);
  return to_text(json, 2);
}

std::string check_json(const DatabaseInfo& info) {
  ordered_json json;
  json["database"] = info.path;
  json["damaged"] = false;
  json["candidates"] = info.counts.candidates;
  json["measurements"] = info.counts.measurements;
  return to_text(json, 2);
}

std::string upgrade_json(const UpgradeReport& report) {
  ordered_json json;
  json["database"] = report.path;
  json["schema_version"] = report.schema_version;
  json["upgraded_from"] = nullptr;
  if (report.upgraded_from) json["upgraded_from"] = *report.upgraded_from;
  return to_text(json, 2);
}

std::string export_json(const ExportCounts& counts, const ExportOptions& options,
                        const std::string& file) {
  ordered_json json;
  json["file"] = file;
  json["format"] = options.format;
  json["written"] = counts.written;
  json["left_out"] = counts.left_out;
  return to_text(json, 2);
}

std::string import_json(const ImportReport& report) {
  ordered_json json = counts_json(report.counts);
  json["bad_lines"] = ordered_json::array();
  for (const BadLine& bad : report.bad)
    json["bad_lines"].push_back({{"line", bad.number}, {"reason", bad.why}});
  return to_text(json, 2);
}

std::string merge_json(const std::vector<MergedDatabase>& merged) {
  ordered_json json;
  json["merged"] = ordered_json::array();
  for (const MergedDatabase& other : merged) {
    ordered_json entry;
    entry["file"] = other.file;
    entry.update(counts_json(other.counts));
    json["merged"].push_back(std::move(entry));
  }
  return to_text(json, 2);
}

std::string prune_json(const PruneReport& report) {
  ordered_json json;
  json["dry_run"] = report.dry_run;
  json["candidates"] = report.counts.candidates;
  json["measurements"] = report.counts.measurements;
  json["candidates_before"] = report.candidates_before;
  json["measurements_before"] = report.measurements_before;
  return to_text(json, 2);
}

std::string pack_json(const PackReport& report, const std::string& file) {
  ordered_json json;
  json["file"] = file;
  json["bytes"] = report.bytes;
  json["winners"] = report.winners;
  json["images"] = report.images;
  json["lent"] = report.lent;
  json["missing"] = ordered_json::array();
  for (const MissingKernel& kernel : report.missing) {
    json["missing"].push_back(
        {{"name", kernel.name}, {"arch", kernel.arch}, {"reason", kernel.why}});
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
