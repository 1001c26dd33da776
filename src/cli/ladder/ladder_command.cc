#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "app/common/target.h"
#include "app/ladder/ladder.h"
#include "cli/common/command.h"
#include "cli/common/interrupt.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/progress_display.h"
#include "cli/common/terminal.h"
#include "cli/ladder/commands.h"
#include "cli/ladder/ladder_plot.h"
#include "cli/ladder/ladder_text.h"
#include "core/output_file.h"

namespace gemmtune::cli {
namespace {

struct LadderCommandOptions {
  app::LadderOptions ladder;
  std::string plot_file;
};

Expected<void> climb_and_print(const Context& context, const LadderCommandOptions& options) {
  std::optional<OutputFile> plot;  // opened first: an unwritable file must not cost a search
  if (!options.plot_file.empty()) {
    auto file = OutputFile::create(options.plot_file);
    if (!file) return tl::unexpected(file.error());
    plot.emplace(std::move(*file));
  }
  const InterruptFlag interrupt;
  std::shared_ptr<ProgressDisplay> display;  // of the rung in work
  app::LadderEvents events;
  if (!context.json)
    events.on_target = [](const app::Target& target) { print(app::target_line(target)); };
  if (context.verbosity >= 0) {
    events.on_rung = [&display, &context](const Problem& problem, std::string_view name) {
      display.reset();  // a bar is taken away before the next one is drawn
      display = std::make_shared<ProgressDisplay>(stderr, redraws(context.plain_terminal),
                                                  std::string(name), flops(problem));
      return [display](const tuner::Progress& progress) { display->update(progress); };
    };
  }
  auto summary = app::ladder(context, options.ladder, interrupt.flag(), events);
  display.reset();
  if (!summary) return tl::unexpected(summary.error());
  if (plot) {  // first: what reads stdout may have gone
    plot->write(ladder_svg(*summary));
    if (auto written = plot->commit(); !written) return written;
  }
  print(context.json ? app::ladder_json(*summary) : ladder_text(*summary));
  return {};
}

}  // namespace

void add_ladder_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<LadderCommandOptions>();
  app::LadderOptions& ladder = options->ladder;
  CLI::App* command = parent.add_subcommand(
      "ladder", "Every strategy with its best tile on one problem, side by side");
  add_problem_options(*command, ladder.problem, false);
  add_target_options(*command, ladder.target);
  const char* const group = "Search";
  command->add_option("--strategy", ladder.strategies, "Only this strategy; may be repeated")
      ->type_name("NAME")
      ->group(group)
      ->allow_extra_args(false);
  command
      ->add_option("--candidates", ladder.search.candidates,
                   "How many to try of each strategy (default: 100 on a device, 24 without)")
      ->type_name("N")
      ->transform(candidates_number())
      ->group(group);
  command
      ->add_option("--seconds", ladder.search.seconds,
                   "End the search of a strategy after this time")
      ->type_name("S")
      ->transform(seconds_number())
      ->group(group);
  command
      ->add_option("--jobs", ladder.search.jobs,
                   "Threads that rank and compile (default: all cores)")
      ->type_name("N")
      ->transform(jobs_number())
      ->group(group);
  command->add_option("--seed", ladder.search.seed, "Of the random part of the search")
      ->type_name("N")
      ->transform(seed_number())
      ->group(group);
  command->add_flag("--retune", ladder.search.fresh, "Try again what is stored already")
      ->group(group);
  command->add_flag("--warm", ladder.search.warm, "Operands in cache instead of in memory")
      ->group(group);
  command->add_option("--plot", options->plot_file, "Also draw a bar chart, SVG")
      ->type_name("FILE");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune ladder --shape 5120x5120x5120 --plot ladder.svg\n"
      "  gemm-tune ladder --shape 4096x4096x4096 --strategy naive --strategy smem_tile --json\n"
      "  gemm-tune ladder --shape 1024x1024x1024 --arch sm_80\n"
      "\n"
      "A strategy of which as many candidates are stored is not searched again. On a device the\n"
      "best of each and cuBLASLt are then measured in turns, so that all percentages are of one\n"
      "run; without one the table holds predictions. FLOP/B counts the bytes that blocks load\n"
      "from global memory, FLOP/smem B those that threads load from shared memory.");
  command->callback([options, &action] {
    action = [options](const Context& context) { return climb_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
