#include <CLI/CLI.hpp>
#include <memory>

#include "app/capture/capture.h"
#include "cli/capture/capture_text.h"
#include "cli/capture/commands.h"
#include "cli/common/options.h"
#include "cli/common/print.h"

namespace gemmtune::cli {
namespace {

Expected<void> capture_and_print(const Context& context, const app::CaptureOptions& options,
                                 int& exit_code) {
  const auto report = app::capture(context, options);
  if (!report) return tl::unexpected(report.error());
  print(context.json ? app::capture_json(*report) : capture_text(*report));
  exit_code = report->exit_code;
  if (exit_code != 0 || !report->suite.empty()) return {};
  return make_error(ErrorKind::not_found,
                    "none of the products is a problem that can be tuned; nothing was written");
}

}  // namespace

void add_capture_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::CaptureOptions>();
  CLI::App* command = parent.add_subcommand(
      "capture", "Write the products that a program asks cuBLAS for as a suite");
  command->add_option("-o,--output", options->output, "The suite to write, JSON")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--from-log", options->logs,
                   "Read cuBLASLt's own log (CUBLASLT_LOG_LEVEL=2) in place of running a program")
      ->type_name("FILE");
  command
      ->add_option("--from-folder", options->folder,
                   "Read what running processes have counted in FOLDER (gemmtune.capture() does)")
      ->type_name("FOLDER");
  command->add_option("program", options->program, "The program and its arguments, behind --")
      ->type_name("PROGRAM");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune capture -o app.json -- python train.py --steps 10\n"
      "  gemm-tune tune --suite app.json\n"
      "  gemm-tune capture --from-log app-*.log -o app.json\n\n"
      "Ends with the program's exit code, or 128 and the signal that ended it.");
  command->callback([options, &common, &action] {
    action = [options, &common](const Context& context) {
      return capture_and_print(context, *options, common.exit_code);
    };
  });
}

}  // namespace gemmtune::cli
