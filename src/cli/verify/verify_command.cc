#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/common/problems.h"
#include "app/verify/verify.h"
#include "app/verify/verify_many.h"
#include "cli/common/command.h"
#include "cli/common/interrupt.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/verify/commands.h"
#include "cli/verify/verify_text.h"

namespace gemmtune::cli {
namespace {

constexpr const char* kDefaultShape = "301x333x77";  // several tiles of every size, ragged

Expected<void> verify_and_print(const Context& context, app::VerifyOptions options) {
  if (!app::names_sizes(options.problem)) options.problem.shapes.emplace_back(kDefaultShape);
  const InterruptFlag interrupt;
  const auto on_kernel = [&context](const app::VerifiedKernel& kernel) {
    if (context.verbosity >= 0)
      tell(fmt::format("{}: {}\n", kernel.correct() ? "correct" : "WRONG", kernel.config));
  };
  auto report = app::verify(context, options, interrupt.flag(), on_kernel);
  if (!report) return tl::unexpected(report.error());
  print(context.json ? app::verify_json(*report) : verify_text(*report));
  if (report->kernels.empty()) return make_error(ErrorKind::failed, "interrupted");
  if (!report->correct()) return make_error(ErrorKind::failed, "not every kernel is correct");
  return {};
}

Expected<void> verify_many_and_print(const Context& context,
                                     const app::VerifyManyOptions& options) {
  const InterruptFlag interrupt;
  const auto on_strategy = [&context](const app::VerifiedStrategy& one) {
    if (context.verbosity >= 0)
      tell(
          fmt::format("{}: {} of {} kernels wrong\n", one.strategy, one.wrong.size(), one.kernels));
  };
  auto report = app::verify_many(context, options, interrupt.flag(), on_strategy);
  if (!report) return tl::unexpected(report.error());
  print(context.json ? app::verify_many_json(*report) : verify_many_text(*report));
  if (!report->correct()) return make_error(ErrorKind::failed, "not every kernel is correct");
  if (report->interrupted) return make_error(ErrorKind::failed, "interrupted");
  return {};
}

struct Options {
  app::VerifyOptions one_kind;  // of problem
  int random_cases = 0;
  bool shipped = false;
  int jobs = 0;

  Expected<void> run(const Context& context) const {
    if (random_cases > 0 || shipped) {
      return verify_many_and_print(context, {one_kind.target, one_kind.strategy, one_kind.backend,
                                             random_cases, one_kind.seed, jobs});
    }
    if (jobs > 0) {
      return usage_error(
          "--jobs is for --random N and --shipped: other kernels are checked in turn");
    }
    if (one_kind.strategy.empty())
      return usage_error("--strategy NAME is needed; --random N checks all of them");
    return verify_and_print(context, one_kind);
  }
};

// Their kernels have problems and tiles of their own.
void add_many_options(CLI::App& command, Options& options) {
  auto* random =
      command.add_option("--random", options.random_cases,
                         "Check so many random cases of each strategy, or of --strategy: tiles, "
                         "types, layouts, alignments, epilogues and sizes are drawn");
  random->type_name("N")->transform(whole_number(1, kMostInt));
  auto* shipped = command.add_flag("--shipped", options.shipped,
                                   "Check the kernels of the results that come with gemm-tune");
  shipped->excludes(random);
  command
      .add_option("--jobs", options.jobs,
                  "Threads that check --random and --shipped (default: all cores)")
      ->type_name("N")
      ->transform(jobs_number());
  const auto of_one_kind = [](const CLI::Option* option) {
    if (option->get_lnames().empty()) return false;
    const std::string& name = option->get_lnames().front();
    return option->get_group() == "Problem" || name.starts_with("tile") || name == "profile" ||
           name == "async";
  };
  for (CLI::Option* option : command.get_options(of_one_kind)) {
    random->excludes(option);
    shipped->excludes(option);
  }
}

}  // namespace

void add_verify_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<Options>();
  app::VerifyOptions& one_kind = options->one_kind;
  CLI::App* command = parent.add_subcommand("verify", "Check the results of a strategy's kernels");
  command->add_option("--strategy", one_kind.strategy, "The strategy")->type_name("NAME");
  command
      ->add_option("--backend", one_kind.backend,
                   "gpu (default), or sim: the PTX simulator on the CPU")
      ->type_name("WHERE");
  command
      ->add_option("--async", one_kind.async,
                   "On sim, when asynchronous copies arrive: early, late or both (default)")
      ->type_name("MODE");
  command->add_flag("--profile", one_kind.profile,
                    "On sim: instructions, sectors, bank conflicts and bytes of one product");
  command->add_option("--tile", one_kind.tile, "Only this kernel: \"tile_m=128 tile_n=128 ...\"")
      ->type_name("TILE");
  command
      ->add_option("--tiles", one_kind.tiles,
                   "How many of the space, those with most pairs of values first (default: 8)")
      ->type_name("N")
      ->transform(whole_number(1, kMostInt));
  command->add_option("--seed", one_kind.seed, "Of the sample")
      ->type_name("N")
      ->transform(seed_number());
  add_problem_options(*command, one_kind.problem, false);
  add_target_options(*command, one_kind.target);
  add_many_options(*command, *options);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune verify --strategy double_buffer\n"
      "  gemm-tune verify --strategy double_buffer --backend sim --arch sm_80 --tiles 2\n"
      "  gemm-tune verify --strategy double_buffer --layout nnt --shape 1x513x65 --tiles 50\n"
      "  gemm-tune verify --strategy warp_tile --backend sim --arch sm_90 --profile --tiles 1\n"
      "  gemm-tune verify --random 1000\n"
      "  gemm-tune verify --shipped\n"
      "\n"
      "Exact integers, random data against an fp64 reference, NaN and Inf, padding, batches and\n"
      "guard zones around C. Exit code 1 if a kernel is wrong.");
  command->callback([options, &action] {
    action = [options](const Context& context) { return options->run(context); };
  });
}

}  // namespace gemmtune::cli
