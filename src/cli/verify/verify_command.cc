#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/common/problems.h"
#include "app/verify/verify.h"
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
  const app::ProblemOptions& problem = options.problem;
  if (problem.shapes.empty() && problem.m.empty() && problem.n.empty() && problem.k.empty())
    options.problem.shapes.emplace_back(kDefaultShape);
  const InterruptFlag interrupt;
  const auto on_kernel = [&context](const app::VerifiedKernel& kernel) {
    if (context.verbosity >= 0)
      fmt::print(stderr, "{}: {}\n", kernel.correct() ? "correct" : "WRONG", kernel.config);
  };
  auto report = app::verify(context, options, interrupt.flag(), on_kernel);
  if (!report) return tl::unexpected(report.error());
  print(context.json ? app::verify_json(*report) : verify_text(*report));
  if (report->kernels.empty()) return make_error(ErrorKind::failed, "interrupted");
  if (!report->correct()) return make_error(ErrorKind::failed, "not every kernel is correct");
  return {};
}

}  // namespace

void add_verify_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::VerifyOptions>();
  CLI::App* command = parent.add_subcommand("verify", "Check the results of a strategy's kernels");
  command->add_option("--strategy", options->strategy, "The strategy")
      ->required()
      ->type_name("NAME");
  command
      ->add_option("--backend", options->backend,
                   "gpu (default), or sim: the PTX simulator on the CPU")
      ->type_name("WHERE");
  command
      ->add_option("--async", options->async,
                   "On sim, when asynchronous copies arrive: early, late or both (default)")
      ->type_name("MODE");
  command->add_flag("--profile", options->profile,
                    "On sim: instructions, sectors, bank conflicts and bytes of one product");
  command->add_option("--tile", options->tile, "Only this kernel: \"tile_m=128 tile_n=128 ...\"")
      ->type_name("TILE");
  command
      ->add_option("--tiles", options->tiles,
                   "How many of the space, those with most pairs of values first (default: 8)")
      ->type_name("N")
      ->transform(whole_number(1, kMostInt));
  command->add_option("--seed", options->seed, "Of the sample")
      ->type_name("N")
      ->transform(seed_number());
  add_problem_options(*command, options->problem, false);
  add_target_options(*command, options->target);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune verify --strategy double_buffer\n"
      "  gemm-tune verify --strategy double_buffer --backend sim --arch sm_80 --tiles 2\n"
      "  gemm-tune verify --strategy double_buffer --layout nnt --shape 1x513x65 --tiles 50\n"
      "  gemm-tune verify --strategy warp_tile --backend sim --arch sm_90 --profile --tiles 1\n"
      "\n"
      "Exact integers, random data against an fp64 reference, NaN and Inf, padding, batches and\n"
      "guard zones around C. Exit code 1 if a kernel is wrong.");
  command->callback([options, &action] {
    action = [options](const Context& context) { return verify_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
