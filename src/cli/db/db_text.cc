#include "cli/db/db_text.h"

#include <fmt/format.h>

#include "cli/common/print.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

constexpr size_t kBadLinesShown = 20;

using Counts = std::vector<std::pair<std::string, int64_t>>;

std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [name, number] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, name);
  return text;
}

}  // namespace

std::string info_text(const app::DatabaseInfo& info) {
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

std::string check_text(const app::DatabaseInfo& info) {
  return fmt::format("no damage: {} candidates, {} measurements\n", info.counts.candidates,
                     info.counts.measurements);
}

std::string upgrade_text(const app::UpgradeReport& report) {
  const std::string before = report.upgraded_from ? fmt::format("it had {}", *report.upgraded_from)
                                                  : "it had that already";
  return fmt::format("{}: schema version {}, {}\n", report.path, report.schema_version, before);
}

std::string export_text(const app::ExportCounts& counts, const std::string& file) {
  const std::string rest =
      counts.left_out == 0
          ? ""
          : fmt::format(", {} left out: they were predicted, not measured", counts.left_out);
  return fmt::format("{} candidates to {}{}\n", counts.written, file, rest);
}

std::string bad_lines_text(const app::ImportReport& report, const std::string& file) {
  const std::string name = file == "-" ? "stdin" : visible_line(file);
  std::string text;
  for (size_t i = 0; i < report.bad.size() && i < kBadLinesShown; ++i)
    text += fmt::format("{}:{}: {}\n", name, report.bad[i].number, visible_line(report.bad[i].why));
  if (report.bad.size() > kBadLinesShown)
    text += fmt::format("{}: {} more\n", name, report.bad.size() - kBadLinesShown);
  return text;
}

std::string import_text(const app::ImportReport& report) {
  const store::MergeCounts& c = report.counts;
  return fmt::format("{} added, {} changed, {} unchanged\n", c.added, c.changed, c.unchanged);
}

std::string merge_text(const std::vector<app::MergedDatabase>& merged) {
  Table table({{"added", kRight}, {"changed", kRight}, {"unchanged", kRight}, {"from"}});
  for (const app::MergedDatabase& other : merged) {
    table.add({std::to_string(other.counts.added), std::to_string(other.counts.changed),
               std::to_string(other.counts.unchanged), other.file});
  }
  return table.text();
}

std::string prune_text(const app::PruneReport& report) {
  return fmt::format("{} {} of {} candidates, {} of {} measurements\n",
                     report.dry_run ? "would remove" : "removed", report.counts.candidates,
                     report.candidates_before, report.counts.measurements,
                     report.measurements_before);
}

std::string pack_text(const app::PackReport& report, const std::string& file) {
  std::string text =
      fmt::format("{} winners and {} images of machine code, {:.1f} KiB, in {}\n", report.winners,
                  report.images, static_cast<double>(report.bytes) / 1024, file);
  if (report.lent > 0) {
    text += fmt::format("{} problem{} {} kernels of others\n", report.lent,
                        report.lent == 1 ? "" : "s", report.lent == 1 ? "runs on" : "run on");
  }
  for (const app::MissingKernel& kernel : report.missing)
    text += fmt::format("without {} {}: {}\n", kernel.arch, kernel.name, kernel.why);
  return text;
}

}  // namespace gemmtune::cli
