#include <CLI/CLI.hpp>
#include <memory>

#include "app/model/model_fit.h"
#include "app/model/model_report.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/print_result.h"
#include "cli/model/commands.h"
#include "cli/model/model_text.h"

namespace gemmtune::cli {
namespace {

Expected<void> fit_and_print(const Context& context, const app::FitOptions& options) {
  auto fit = app::model_fit(context, options);
  if (!fit) return tl::unexpected(fit.error());
  if (options.output == "-") {
    print_exactly(fit->archs.front().text);
  } else {
    print(context.json ? app::model_fit_json(*fit) : model_fit_text(*fit));
  }
  return {};
}

void add_report_command(CLI::App& model, CommonOptions& common, Action& action) {
  auto filter = std::make_shared<app::FilterOptions>();
  CLI::App* command = model.add_subcommand(
      "report", "Compare what the model predicts with what was measured, for each strategy");
  add_filter_options(*command, *filter, true);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune model report\n"
      "  gemm-tune model report --arch sm_90 --type bf16 --db tuned.db");
  command->callback([filter, &action] {
    action = print_result(
        [filter](const Context& context) { return app::model_report(context, *filter); },
        model_report_text, app::model_report_json);
  });
}

void add_fit_command(CLI::App& model, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::FitOptions>();
  CLI::App* command = model.add_subcommand(
      "fit", "Correct the model by what was measured; searches use it from then on");
  command->add_option("--arch", options->arch, "Of this arch only")->type_name("ARCH");
  command
      ->add_option("-o,--output", options->output,
                   "Write the calibration to a file, in place of keeping it; - is stdout")
      ->type_name("FILE");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune model fit\n"
      "  gemm-tune model fit --arch sm_90 --db tuned.db -o sm_90.json");
  command->callback([options, &action] {
    action = [options](const Context& context) { return fit_and_print(context, *options); };
  });
}

}  // namespace

void add_model_command(CLI::App& parent, CommonOptions& common, Action& action) {
  CLI::App* model = parent.add_subcommand("model", "The performance model");
  model->require_subcommand(1);
  add_report_command(*model, common, action);
  add_fit_command(*model, common, action);
}

}  // namespace gemmtune::cli
