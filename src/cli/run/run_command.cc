#include <CLI/CLI.hpp>
#include <memory>

#include "app/run/run.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/run/commands.h"
#include "cli/run/run_text.h"

namespace gemmtune::cli {
namespace {

struct RunRequest {
  app::RunOptions options;
  std::string attach;  // a folder to count into; or
  std::string report;  // one to report of; both empty: run the program
};

Expected<void> print_settings(const Context& context, const RunRequest& request) {
  const auto settings = app::attach_settings(context, request.options, request.attach);
  if (!settings) return tl::unexpected(settings.error());
  print(app::attach_json(*settings));
  return {};
}

// A program's stdout is its own, unless JSON was asked for.
Expected<void> run_and_print(const Context& context, const RunRequest& request, int& exit_code) {
  const bool runs = request.attach.empty() && request.report.empty();
  const bool several = !request.attach.empty() && !request.report.empty();
  if (several || (!runs && !request.options.program.empty()))
    return usage_error("either a program, or --attach or --report of a process that runs");
  if (!request.attach.empty()) return print_settings(context, request);
  const auto report =
      runs ? app::run(context, request.options) : app::report_of(request.options, request.report);
  if (!report) return tl::unexpected(report.error());
  if (context.json) {
    print(app::run_json(*report));
  } else if (!runs) {
    print(report->calls() == 0 ? "no product was seen\n" : run_report_text(*report));
  } else if (context.verbosity >= 0) {
    tell(visible(run_report_text(*report)));
  }
  exit_code = report->exit_code;
  return {};
}

}  // namespace

void add_run_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto request = std::make_shared<RunRequest>();
  app::RunOptions* const options = &request->options;
  CLI::App* command =
      parent.add_subcommand("run", "Run a program with tuned kernels in cuBLAS's place");
  command->add_option("-o,--output", options->output, "The report, JSON")->type_name("FILE");
  command
      ->add_option("--override", options->override,
                   "Which algorithms that the program gives to cublasLtMatmul are replaced: those "
                   "that cuBLASLt's heuristic names first, or never, or always "
                   "(default: $GEMM_TUNE_OVERRIDE, else first)")
      ->type_name("first|never|always");
  command
      ->add_option(
          "--f32", options->f32,
          "Compute f32 products on tensor cores, nearly as exactly as f32 (docs/cli.md has "
          "each mode's error), where a kernel of that math mode was tuned (default: "
          "$GEMM_TUNE_F32, else as they are)")
      ->type_name("3xtf32|bf16x6|bf16x9");
  command
      ->add_option("--pack", options->pack,
                   "Kernels of this pack (gemm-tune db pack), in place of a database and NVRTC")
      ->type_name("FILE");
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
  command
      ->add_option("--attach", request->attach,
                   "Run nothing: print as JSON what a running process attaches with to count into "
                   "FOLDER (gemmtune.torch.enable() does)")
      ->type_name("FOLDER");
  command
      ->add_option("--report", request->report,
                   "Run nothing: print the report of what was counted in FOLDER so far")
      ->type_name("FOLDER");
  command->add_option("program", options->program, "The program and its arguments, behind --")
      ->type_name("PROGRAM");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune run -- python train.py --steps 10\n"
      "  gemm-tune run --pack app.pack -- ./server\n"
      "  gemm-tune run -o report.json --missing app.json -- python train.py\n\n"
      "The report goes to stderr, or as JSON to stdout. Ends with the program's exit code, or 128\n"
      "and the signal that ended it.");
  command->callback([request, &common, &action] {
    action = [request, &common](const Context& context) {
      return run_and_print(context, *request, common.exit_code);
    };
  });
}

}  // namespace gemmtune::cli
