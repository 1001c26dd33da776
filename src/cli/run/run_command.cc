#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/run/run.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/run/commands.h"
#include "cli/run/run_text.h"

namespace gemmtune::cli {
namespace {

// stdout is the program's, unless JSON was asked for.
Expected<void> run_and_print(const Context& context, const app::RunOptions& options,
                             int& exit_code) {
  const auto report = app::run(context, options);
  if (!report) return tl::unexpected(report.error());
  if (context.json) {
    print(app::run_json(*report));
  } else if (context.verbosity >= 0) {
    fmt::print(stderr, "{}", visible(run_report_text(*report)));
  }
  exit_code = report->exit_code;
  return {};
}

}  // namespace

void add_run_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::RunOptions>();
  CLI::App* command =
      parent.add_subcommand("run", "Run a program with tuned kernels in cuBLAS's place");
  command->add_option("-o,--output", options->output, "The report, JSON")->type_name("FILE");
  command
      ->add_option("--override", options->override,
                   "Which algorithms that the program gives to cublasLtMatmul are replaced: those "
                   "that cuBLASLt's heuristic names first, or never, or always "
                   "(default: $GEMM_TUNE_OVERRIDE, else first)")
      ->type_name("first|never|always");
  command->add_flag("--nondeterministic", options->nondeterministic,
                    "Also kernels that may round differently from run to run");
  command->add_flag("--no-compare", options->no_compare,
                    "Hand no calls to cuBLAS in order to compare the times");
  command
      ->add_option("--on-miss", options->on_miss,
                   "record: write what is not tuned as a suite (default: $GEMM_TUNE_ON_MISS, else "
                   "off)")
      ->type_name("off|record");
  command
      ->add_option("--missing", options->missing,
                   "The suite of --on-miss record (default: gemm-tune-missing.json)")
      ->type_name("FILE");
  command->add_option("program", options->program, "The program and its arguments, behind --")
      ->type_name("PROGRAM");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune run -- python train.py --steps 10\n"
      "  gemm-tune run -o report.json --missing app.json -- python train.py\n\n"
      "The report goes to stderr, or as JSON to stdout. Ends with the program's exit code, or 128\n"
      "and the signal that ended it.");
  command->callback([options, &common, &action] {
    action = [options, &common](const Context& context) {
      return run_and_print(context, *options, common.exit_code);
    };
  });
}

}  // namespace gemmtune::cli
