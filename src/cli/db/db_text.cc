// Reports of the db commands.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/db/export.h"
#include "app/db/import.h"
#include "app/db/info.h"
#include "app/db/merge.h"
#include "app/db/pack.h"
#include "app/db/prune.h"
#include "cli/common/print.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kBadLinesShown = 20;

using Counts = std::vector<std::pair<std::string, int64_t>>;

std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [name, number] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, name);
  return text;
}

ordered_json counts_json(const Counts& counts) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, number] : counts) json[name] = number;
  return json;
}

ordered_json counts_json(const store::MergeCounts& counts) {
  return {{"added", counts.added}, {"changed", counts.changed}, {"unchanged", counts.unchanged}};
}

std::string dump(const ordered_json& json) {
  return json.dump(2) + "\n";
}

}  // namespace

std::string info_text(const DatabaseInfo& info) {
  const store::StoreInfo& c = info.counts;
  const auto line = [](std::string_view name, const std::string& value) {
    return value.empty() ? "" : fmt::format("{:<15} {}\n", name, value);
  };
  const auto mib = static_cast<double>(c.file_bytes) / (1 << 20);
  std::string text = line("database", info.path);
  text += line("schema version", std::to_string(c.schema_version));
  text += line("size", fmt::format("{:.1f} MiB", mib));
  text += line("devices", std::to_string(c.devices));
  text += line("problems", std::to_string(c.problems));
  text += line("runs", std::to_string(c.runs));
  text += line("candidates", fmt::format("{}, {} of them stale", c.candidates, c.stale));
  text += line("outcomes", counts_text(c.outcomes));
  text += line("provenance", counts_text(c.provenances));
  text += line("measurements", std::to_string(c.measurements));
  text += line("claims", std::to_string(c.claims));
  text += line("first written", c.first_write);
  text += line("last written", c.last_write);
  return text;
}

std::string info_json(const DatabaseInfo& info) {
  const store::StoreInfo& c = info.counts;
  const auto or_null = [](const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
  };
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
  json["first_write"] = or_null(c.first_write);
  json["last_write"] = or_null(c.last_write);
  return dump(json);
}

std::string check_text(const DatabaseInfo& info) {
  return fmt::format("no damage: {} candidates, {} measurements\n", info.counts.candidates,
                     info.counts.measurements);
}

std::string check_json(const DatabaseInfo& info) {
  ordered_json json;
  json["database"] = info.path;
  json["damaged"] = false;
  json["candidates"] = info.counts.candidates;
  json["measurements"] = info.counts.measurements;
  return dump(json);
}

std::string export_text(const ExportCounts& counts, const std::string& file) {
  const std::string rest =
      counts.left_out == 0
          ? ""
          : fmt::format(", {} left out: they were predicted, not measured", counts.left_out);
  return fmt::format("{} candidates to {}{}\n", counts.written, file, rest);
}

std::string export_json(const ExportCounts& counts, const ExportOptions& options,
                        const std::string& file) {
  ordered_json json;
  json["file"] = file;
  json["format"] = options.format;
  json["written"] = counts.written;
  json["left_out"] = counts.left_out;
  return dump(json);
}

std::string bad_lines_text(const ImportReport& report, const std::string& file) {
  const std::string name = file == "-" ? "stdin" : visible_line(file);
  std::string text;
  for (size_t i = 0; i < report.bad.size() && i < kBadLinesShown; ++i)
    text += fmt::format("{}:{}: {}\n", name, report.bad[i].number, visible_line(report.bad[i].why));
  if (report.bad.size() > kBadLinesShown)
    text += fmt::format("{}: {} more\n", name, report.bad.size() - kBadLinesShown);
  return text;
}

std::string import_text(const ImportReport& report) {
  const store::MergeCounts& c = report.counts;
  return fmt::format("{} added, {} changed, {} unchanged\n", c.added, c.changed, c.unchanged);
}

std::string import_json(const ImportReport& report) {
  ordered_json json = counts_json(report.counts);
  json["bad_lines"] = ordered_json::array();
  for (const BadLine& bad : report.bad)
    json["bad_lines"].push_back({{"line", bad.number}, {"reason", bad.why}});
  return dump(json);
}

std::string merge_text(const std::vector<MergedDatabase>& merged) {
  Table table({{"added", kRight}, {"changed", kRight}, {"unchanged", kRight}, {"from"}});
  for (const MergedDatabase& other : merged) {
    table.add({std::to_string(other.counts.added), std::to_string(other.counts.changed),
               std::to_string(other.counts.unchanged), other.file});
  }
  return table.text();
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
  return dump(json);
}

std::string prune_text(const PruneReport& report) {
  return fmt::format("{} {} of {} candidates, {} of {} measurements\n",
                     report.dry_run ? "would remove" : "removed", report.counts.candidates,
                     report.candidates_before, report.counts.measurements,
                     report.measurements_before);
}

std::string prune_json(const PruneReport& report) {
  ordered_json json;
  json["dry_run"] = report.dry_run;
  json["candidates"] = report.counts.candidates;
  json["measurements"] = report.counts.measurements;
  json["candidates_before"] = report.candidates_before;
  json["measurements_before"] = report.measurements_before;
  return dump(json);
}

std::string pack_text(const PackReport& report) {
  std::string text =
      fmt::format("{} winners and {} images of machine code, {:.1f} KiB, in {}\n", report.winners,
                  report.images, static_cast<double>(report.bytes) / 1024, report.file);
  for (const MissingKernel& kernel : report.missing)
    text += fmt::format("without {} {}: {}\n", kernel.arch, kernel.name, kernel.why);
  return text;
}

std::string pack_json(const PackReport& report) {
  ordered_json json;
  json["file"] = report.file;
  json["bytes"] = report.bytes;
  json["winners"] = report.winners;
  json["images"] = report.images;
  json["missing"] = ordered_json::array();
  for (const MissingKernel& kernel : report.missing) {
    json["missing"].push_back(
        {{"name", kernel.name}, {"arch", kernel.arch}, {"reason", kernel.why}});
  }
  return dump(json);
}

}  // namespace gemmtune::cli
