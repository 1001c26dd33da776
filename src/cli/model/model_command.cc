#include <CLI/CLI.hpp>
#include <memory>

#include "app/model/model_report.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/common/print_result.h"
#include "cli/model/commands.h"
#include "cli/model/model_text.h"

namespace gemmtune::cli {

void add_model_command(CLI::App& parent, CommonOptions& common, Action& action) {
  CLI::App* model = parent.add_subcommand("model", "The performance model");
  model->require_subcommand(1);
  auto filter = std::make_shared<app::FilterOptions>();
  CLI::App* command = model->add_subcommand(
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

}  // namespace gemmtune::cli
