#include <CLI/CLI.hpp>

#include "cli/common/command.h"
#include "app/doctor/doctor.h"
#include "cli/common/print.h"

namespace gemmtune::cli {

void add_doctor_command(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what was found on this machine and what is missing");
  add_common_options(*command, common);
  command->footer(
      "Example:\n  gemm-tune doctor\n\nExit code 1 if nothing can be tuned here. Changes nothing.");
  command->callback([&action] {
    action = [](const Context& context) -> Expected<void> {
      const Diagnosis diagnosis = run_doctor(context);
      print(context.options.json ? doctor_json(diagnosis) : doctor_text(diagnosis));
      if (!diagnosis.can_predict) return make_error(ErrorKind::failed, "there is no NVRTC");
      return {};
    };
  });
}

}  // namespace gemmtune::cli
