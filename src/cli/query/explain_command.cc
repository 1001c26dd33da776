#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common/command.h"
#include "app/query/explain.h"
#include "cli/common/print.h"

namespace gemmtune::cli {

void add_explain_command(CLI::App& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain", "What the runtime library would run for a problem, and why nothing else");
  add_problem_options(*command, options->problem, false);
  command
      ->add_option("--device", options->device,
                   "The GPU: uuid or part of the name, of those the database has results of, or a "
                   "model of `gemm-tune list devices` (default: the one present)")
      ->type_name("GPU");
  command->add_flag("--no-vendor", options->no_vendor, "As if there were no cuBLASLt");
  command->add_flag("--deterministic", options->deterministic,
                    "Only what gives the same bits every time");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune explain --shape 5120x5120x4096 --device H200\n"
      "  gemm-tune explain --shape 5000x5000x4096 --no-vendor --json\n"
      "\n"
      "Reads only, and needs no GPU. docs/runtime.md has the order of decisions and the JSON's "
      "keys.");
  command->callback([options, &action] {
    action = [options](const Context& context) -> Expected<void> {
      auto answer = run_explain(context, *options);
      if (!answer) return tl::unexpected(answer.error());
      print(context.options.json ? explain_json(*answer) : explain_text(*answer));
      return {};
    };
  });
}

}  // namespace gemmtune::cli
