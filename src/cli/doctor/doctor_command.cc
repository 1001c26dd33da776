#include <CLI/CLI.hpp>

#include "app/doctor/doctor.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/doctor/commands.h"
#include "cli/doctor/doctor_text.h"

namespace gemmtune::cli {

void add_doctor_command(CLI::App& parent, CommonOptions& common, Action& action) {
  CLI::App* command =
      parent.add_subcommand("doctor", "Say what was found on this machine and what is missing");
  add_common_options(*command, common);
  command->footer(
      "Example:\n  gemm-tune doctor\n\nExit code 1 if nothing can be tuned here. Changes nothing.");
  command->callback([&action] {
    action = [](const Context& context) -> Expected<void> {
      const app::Diagnosis diagnosis = app::doctor(context);
      print(context.json ? app::doctor_json(diagnosis) : doctor_text(diagnosis));
      if (diagnosis.can_predict) return {};
      return make_error(ErrorKind::failed, "nothing can be tuned here: " + diagnosis.obstacle);
    };
  });
}

}  // namespace gemmtune::cli
