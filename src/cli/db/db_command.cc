#include <fmt/format.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "app/db/export.h"
#include "app/db/import.h"
#include "app/db/info.h"
#include "app/db/merge.h"
#include "app/db/pack.h"
#include "app/db/prune.h"
#include "app/db/upgrade.h"
#include "cli/common/command.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/print_result.h"
#include "cli/db/commands.h"
#include "cli/db/db_text.h"
#include "core/file_error.h"
#include "core/names.h"
#include "core/output_file.h"

namespace gemmtune::cli {
namespace {

namespace fs = std::filesystem;

void add_info(CLI::App& db, CommonOptions& common, Action& action) {
  CLI::App* command = db.add_subcommand("info", "Count what the database holds");
  add_common_options(*command, common);
  command->footer("Example:\n  gemm-tune db info --db tuned.db");
  command->callback([&action] { action = print_result(app::db_info, info_text, app::info_json); });
}

void add_check(CLI::App& db, CommonOptions& common, Action& action) {
  CLI::App* command =
      db.add_subcommand("check", "Read everything; fails with the first damage if there is any");
  add_common_options(*command, common);
  command->footer("Example:\n  gemm-tune db check --db tuned.db");
  command->callback(
      [&action] { action = print_result(app::db_check, check_text, app::check_json); });
}

void add_upgrade(CLI::App& db, CommonOptions& common, Action& action) {
  CLI::App* command =
      db.add_subcommand("upgrade", "Bring a database of an older gemm-tune to this one's schema");
  add_common_options(*command, common);
  command->footer(
      "Example:\n"
      "  gemm-tune db upgrade --db tuned.db\n"
      "\n"
      "Whatever writes to a database does this, too. An older gemm-tune refuses it from then on.");
  command->callback(
      [&action] { action = print_result(app::db_upgrade, upgrade_text, app::upgrade_json); });
}

// For commands whose FILE may be stdout, where the report would end up in the content.
Expected<void> check_content_to_stdout(const Context& context, std::string_view what) {
  if (!context.json) return {};
  return usage_error(fmt::format("--json is for the report of {} to a file; name a FILE", what));
}

struct ExportCommandOptions {
  app::ExportOptions what;
  std::string file = "-";
};

Expected<void> export_to_stdout(const Context& context, const app::ExportOptions& options) {
  if (auto checked = check_content_to_stdout(context, "an export"); !checked) return checked;
  auto counts = app::db_export(context, options, print);
  if (!counts) return tl::unexpected(counts.error());
  if (counts->left_out > 0) {
    context.log->warn("{} candidates left out: they were predicted, not measured",
                      counts->left_out);
  }
  return {};
}

Expected<void> export_to_file(const Context& context, const ExportCommandOptions& options) {
  auto file = OutputFile::create(options.file);
  if (!file) return tl::unexpected(file.error());
  auto counts =
      app::db_export(context, options.what, [&](std::string_view piece) { file->write(piece); });
  if (!counts) return tl::unexpected(counts.error());
  if (auto done = file->commit(); !done) return done;
  print(context.json ? app::export_json(*counts, options.what, options.file)
                     : export_text(*counts, options.file));
  return {};
}

void add_export(CLI::App& db, CommonOptions& common, Action& action) {
  auto options = std::make_shared<ExportCommandOptions>();
  CLI::App* command = db.add_subcommand("export", "Write candidates to a file, or to stdout");
  command->add_option("file", options->file, "Where to; - is stdout (default)")->type_name("FILE");
  command
      ->add_option(
          "--format", options->what.format,
          "jsonl (default): a line per candidate, for import; t4: the T4 format of results")
      ->type_name("FORMAT");
  command->add_flag("--best", options->what.best,
                    "Only the best of each problem and device, own and vendor's");
  add_filter_options(*command, options->what.filter, true);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune db export backup.jsonl\n"
      "  gemm-tune db export --best --device H200 | gzip > h200.jsonl.gz\n"
      "  gemm-tune db export results.json --format t4 --arch sm_90\n"
      "\n"
      "Without filters everything is written, results for warm operands included.");
  command->callback([options, &action] {
    action = [options](const Context& context) {
      return options->file == "-" ? export_to_stdout(context, options->what)
                                  : export_to_file(context, *options);
    };
  });
}

// All of it: std::cin takes a failure for the end.
Expected<std::string> read_stdin() {
  std::string text;
  std::array<char, size_t{1} << 16> buffer;
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), stdin))
    text.append(buffer.data(), got);
  if (std::ferror(stdin) != 0) return tl::unexpected(file_error("cannot read stdin", errno));
  return text;
}

Expected<app::ImportReport> import_from(const Context& context, const std::string& file) {
  if (file == "-") {
    auto text = read_stdin();
    if (!text) return tl::unexpected(text.error());
    std::istringstream input(*std::move(text));
    return app::db_import(context, input);
  }
  const std::string name = in_quotes(file);
  std::error_code error;
  if (!fs::exists(file, error)) return usage_error("there is no file " + name + " to import");
  if (fs::is_directory(file, error)) return usage_error(name + " is a folder; name a file in it");
  std::ifstream input(file, std::ios::binary);
  if (!input) return usage_error("cannot open " + name + " for reading");
  return app::db_import(context, input);
}

Expected<void> import_and_print(const Context& context, const std::string& file) {
  auto report = import_from(context, file);
  if (!report) return tl::unexpected(report.error());
  tell(bad_lines_text(*report, file));
  print(context.json ? app::import_json(*report) : import_text(*report));
  if (report->bad.empty()) return {};
  return usage_error(fmt::format("bad lines that were not imported: {}", report->bad.size()));
}

void add_import(CLI::App& db, CommonOptions& common, Action& action) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = db.add_subcommand("import", "Merge the lines of an export into the database");
  command->add_option("file", *file, "Lines as db export writes them; - is stdin")
      ->required()
      ->type_name("FILE");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune db import backup.jsonl\n"
      "  zcat h200.jsonl.gz | gemm-tune db import - --db tuned.db\n"
      "\n"
      "Good lines are imported even if others are bad; the exit code is then 2.");
  command->callback([file, &action] {
    action = [file](const Context& context) { return import_and_print(context, *file); };
  });
}

void add_merge(CLI::App& db, CommonOptions& common, Action& action) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      db.add_subcommand("merge", "Merge other databases into this one; again changes nothing");
  command->add_option("others", *files, "The other databases")->required()->type_name("OTHER.db");
  add_common_options(*command, common);
  command->footer("Example:\n  gemm-tune db merge node1.db node2.db --db tuned.db");
  command->callback([files, &action] {
    action =
        print_result([files](const Context& context) { return app::db_merge(context, *files); },
                     merge_text, app::merge_json);
  });
}

void add_prune(CLI::App& db, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::PruneOptions>();
  CLI::App* command = db.add_subcommand(
      "prune", "Remove candidates and measurements; the best of each problem stay");
  const char* const group = "What may go";
  command->add_flag("--stale", options->stale, "Candidates of an older source or compiler")
      ->group(group);
  command->add_flag("--failures", options->failures, "Candidates that cannot be used")
      ->group(group);
  command
      ->add_option("--keep", options->keep, "All but the latest N measurements of each candidate")
      ->type_name("N")
      ->transform(whole_number(1, kMostInt))
      ->group(group);
  command
      ->add_option("--not-since", options->not_since,
                   "Candidates not written since TIME (UTC), e.g. 2025-01-31")
      ->type_name("TIME")
      ->group(group);
  command->add_flag("--dry-run", options->dry_run, "Only count");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune db prune --stale --failures --dry-run\n"
      "  gemm-tune db prune --keep 3 --not-since 2025-01-31");
  command->callback([options, &action] {
    action =
        print_result([options](const Context& context) { return app::db_prune(context, *options); },
                     prune_text, app::prune_json);
  });
}

struct PackCommandOptions {
  app::PackOptions what;
  std::string file;
};

Expected<void> pack_to_stdout(const Context& context, const app::PackOptions& options) {
  if (auto checked = check_content_to_stdout(context, "a pack"); !checked) return checked;
  if (isatty(STDOUT_FILENO) == 1)
    return usage_error("a pack is binary: name a FILE, or redirect stdout");
  auto report = app::db_pack(context, options, print_exactly);
  if (!report) return tl::unexpected(report.error());
  for (const app::MissingKernel& kernel : report->missing)
    context.log->warn("without {} {}: {}", kernel.arch, kernel.name, kernel.why);
  return {};
}

Expected<void> pack_to_file(const Context& context, const PackCommandOptions& options) {
  auto file = OutputFile::create(options.file);
  if (!file) return tl::unexpected(file.error());
  auto report =
      app::db_pack(context, options.what, [&](std::string_view bytes) { file->write(bytes); });
  if (!report) return tl::unexpected(report.error());
  if (auto done = file->commit(); !done) return done;
  print(context.json ? app::pack_json(*report, options.file) : pack_text(*report, options.file));
  return {};
}

void add_pack(CLI::App& db, CommonOptions& common, Action& action) {
  auto options = std::make_shared<PackCommandOptions>();
  CLI::App* command = db.add_subcommand(
      "pack", "Write winners and their machine code to a file, for programs without a compiler");
  command->add_option("file", options->file, "The pack to write; - is stdout")
      ->required()
      ->type_name("FILE");
  command->add_option("--arch", options->what.archs, "Only results for this arch; may be repeated")
      ->type_name("ARCH")
      ->group("Filter")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options->what.device,
                   "Only results of this GPU: uuid or part of the name")
      ->type_name("GPU")
      ->group("Filter");
  add_problem_options(*command, options->what.problem, true);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune db pack h200.pack --arch sm_90 --device H200\n"
      "  gemm-tune db pack mine.pack --suite mine.json\n"
      "\n"
      "Results for operands in memory only. What is not in the kernel cache is compiled.");
  command->callback([options, &action] {
    action = [options](const Context& context) {
      return options->file == "-" ? pack_to_stdout(context, options->what)
                                  : pack_to_file(context, *options);
    };
  });
}

}  // namespace

void add_db_command(CLI::App& parent, CommonOptions& common, Action& action) {
  CLI::App* command = parent.add_subcommand(
      "db", "Look after the database: export, import, merge, prune, pack ...");
  command->require_subcommand(1);
  for (const auto add :
       {add_info, add_check, add_upgrade, add_export, add_import, add_merge, add_prune, add_pack})
    add(*command, common, action);
  command->footer(
      "Examples:\n"
      "  gemm-tune db info --json\n"
      "  gemm-tune db export backup.jsonl\n"
      "  gemm-tune db merge node1.db node2.db\n"
      "\n"
      "gemm-tune db COMMAND --help shows the options of a command.");
}

}  // namespace gemmtune::cli
