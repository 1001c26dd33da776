#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "app/common/problems.h"
#include "app/common/target.h"
#include "app/emit/emit.h"
#include "app/tune/tune.h"
#include "cli/common/command.h"
#include "cli/common/interrupt.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/terminal.h"
#include "cli/common/this_program.h"
#include "cli/tune/commands.h"
#include "cli/tune/report/html_report.h"
#include "cli/tune/tune_display.h"
#include "cli/tune/tune_text.h"
#include "cli/tune/tune_worker.h"
#include "core/output_file.h"

namespace gemmtune::cli {
namespace {

Expected<void> plan_and_print(const Context& context, const app::TuneOptions& options) {
  const auto plan = app::plan_tune(context, options);
  if (!plan) return tl::unexpected(plan.error());
  print(context.json ? app::plan_json(*plan) : plan_text(*plan));
  return {};
}

// The standalone source of each problem's best kernel, by the problem's text.
std::map<std::string, std::string> sources_of(const Context& context,
                                              const app::TuneSummary& summary) {
  std::map<std::string, std::string> sources;
  for (const app::TunedProblem& tuned : summary.problems) {
    if (!tuned.report || tuned.report->ranking.empty()) continue;
    auto kernel =
        app::emit_record(context, tuned.report->ranking.front(), app::EmitFormat::source, false);
    if (kernel) sources.emplace(tuned.wanted.text, std::move(kernel->content));
  }
  return sources;
}

// The file of --report, opened before anything is tuned: an unwritable one must not cost a search.
Expected<std::optional<OutputFile>> open_report(const std::string& path,
                                                const std::vector<std::string>& suites) {
  if (path.empty()) return std::nullopt;
  auto file = OutputFile::create(path, suites);
  if (!file) return tl::unexpected(file.error());
  return std::optional(*std::move(file));
}

Expected<void> tune_and_print(const Context& context, const app::TuneOptions& options,
                              const std::string& report_file) {
  auto report = open_report(report_file, options.problems.suites);
  if (!report) return tl::unexpected(report.error());
  const InterruptFlag interrupt;
  TuneDisplay display(stderr, redraws(context.plain_terminal));
  const auto show = [&](const std::string& text) {
    if (context.json) return;
    // The report is wanted even if what reads stdout has gone.
    *report ? static_cast<void>(try_to_print(text)) : print(text);
  };
  app::TuneEvents events;
  events.on_target = [&](const app::Target& target) { show(app::target_line(target)); };
  events.on_result = [&](const app::TunedProblem& tuned) {
    display.end(tuned);
    show(tune_text(tuned));
  };
  if (context.verbosity >= 0) {
    events.on_problem = [&display](const app::WantedProblem& wanted, const app::TunePlace& place) {
      return display.begin(wanted, place);
    };
  }
  auto summary = app::tune(context, options, interrupt.flag(), events);
  display.clear();
  if (!summary) return tl::unexpected(summary.error());
  if (*report) {
    (*report)->write(tune_report_html(*summary, sources_of(context, *summary)));
    if (auto written = (*report)->commit(); !written) return written;
  }
  print(context.json ? app::tune_json(*summary) : tune_summary_text(*summary));
  const bool found = std::any_of(summary->problems.begin(), summary->problems.end(),
                                 [](const app::TunedProblem& tuned) {
                                   return tuned.report && !tuned.report->ranking.empty();
                                 });
  if (found) return {};
  return make_error(ErrorKind::failed, summary->interrupted
                                           ? "interrupted before anything was found"
                                           : "no problem could be tuned");
}

}  // namespace

void add_tune_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::TuneOptions>();
  CLI::App* command = parent.add_subcommand("tune", "Find the fastest kernel for problems");
  add_problem_options(*command, options->problems, true);
  take_several_suites(*command);
  add_target_options(*command, options->target);
  add_devices_option(*command, options->target);
  options->worker_program = kThisProgram;
  options->worker_arguments = {"gemm-tune", kWorkerCommand};
  const char* const group = "Search";
  command->add_option("--strategy", options->strategies, "Only this strategy; may be repeated")
      ->type_name("NAME")
      ->group(group)
      ->allow_extra_args(false);
  command
      ->add_option("--space", options->space_files,
                   "Parameter values of a strategy, JSON; may be repeated")
      ->type_name("FILE")
      ->group(group)
      ->allow_extra_args(false);
  command
      ->add_option("--search", options->method,
                   "How candidates are chosen: model (by it and what was measured; the default), "
                   "random, or exhaustive (all)")
      ->type_name("METHOD")
      ->group(group);
  CLI::Option* const budget =
      command
          ->add_option("--budget", options->budget,
                       "End the search of a problem after a time (30s, 5m, 1h) or a number of "
                       "candidates (200)")
          ->type_name("TIME|N")
          ->group(group);
  command
      ->add_option("--candidates", options->search.candidates,
                   "How many to try (default: until little is expected of more, at most 360; "
                   "at most 96 without a device)")
      ->type_name("N")
      ->transform(candidates_number())
      ->excludes(budget)
      ->group(group);
  command->add_option("--seconds", options->search.seconds, "End the search after this time")
      ->type_name("S")
      ->transform(seconds_number())
      ->excludes(budget)
      ->group(group);
  command
      ->add_option("--jobs", options->search.jobs,
                   "Threads that rank and compile (default: all cores)")
      ->type_name("N")
      ->transform(jobs_number())
      ->group(group);
  command->add_option("--seed", options->search.seed, "Of the random part of the search")
      ->type_name("N")
      ->transform(seed_number())
      ->group(group);
  command
      ->add_flag("--thin-rows", options->thin_rows,
                 "Of problems with up to 128 rows that differ in nothing else, leave out those "
                 "between two others")
      ->group(group);
  command
      ->add_option("--shard", options->shard,
                   "Only this part of the problems, 1/8 to 8/8; `db merge` puts results together")
      ->type_name("I/N")
      ->group(group);
  command->add_flag("--fresh", options->search.fresh, "Try again what is stored already")
      ->group(group);
  command->add_flag("--warm", options->search.warm, "Operands in cache instead of in memory")
      ->group(group);
  auto report = std::make_shared<std::string>();
  command->add_option("--report", *report, "Also write what was found as a page, HTML")
      ->type_name("FILE");
  auto dry_run = std::make_shared<bool>(false);
  command
      ->add_flag("--dry-run", *dry_run, "Tune nothing, and say what would be tuned, in which order")
      ->group(group);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune --shape 5120x5120x4096 --arch sm_80     (tune is the default command)\n"
      "  gemm-tune tune --shape 4096x4096x4096 --layout tnt --budget 30s\n"
      "  gemm-tune tune --m 256:2048:256 --n 4096 --k 4096\n"
      "  gemm-tune tune --suite configs/suites/square.json --json\n"
      "  gemm-tune tune --suite app.json --budget 10s --report app.html\n"
      "  gemm-tune tune --suite app.json --devices all\n"
      "  gemm-tune tune --suite app.json --shard 3/8 --db node3.db    (the third of eight jobs)\n"
      "\n"
      "Where no GPU runs code for ARCH, candidates are compiled and ranked by a model: such "
      "results\n"
      "are stored as `predicted`. Ctrl-C ends the search and keeps what was found; the same "
      "command\n"
      "goes on from there.");
  command->callback([options, dry_run, report, &action] {
    action = [options, dry_run, report](const Context& context) -> Expected<void> {
      if (*dry_run && !report->empty())
        return usage_error("--report is of what was tuned: leave it out with --dry-run");
      return *dry_run ? plan_and_print(context, *options)
                      : tune_and_print(context, *options, *report);
    };
  });
}

}  // namespace gemmtune::cli
