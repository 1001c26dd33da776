#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/query/explain.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/query/commands.h"

namespace gemmtune::cli {
namespace {

std::string explain_text(const app::ExplainAnswer& answer) {
  const std::string& uuid = answer.device.uuid;
  return fmt::format("on {}\n", visible_line(uuid.empty() ? "any " + answer.device.name
                                                          : answer.device.name + " " + uuid)) +
         dispatch::to_text(answer.explanation);
}

Expected<void> explain_and_print(const Context& context, const app::ExplainOptions& options) {
  const auto answer = app::explain(context, options);
  if (!answer) return tl::unexpected(answer.error());
  print(context.json ? app::explain_json(*answer) : explain_text(*answer));
  if (!answer->explanation.decision.choices.empty()) return {};
  return make_error(ErrorKind::not_found,
                    fmt::format("nothing computes {} on {}", key(answer->explanation.problem),
                                answer->device.name));
}

}  // namespace

void add_explain_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::ExplainOptions>();
  CLI::App* command = parent.add_subcommand(
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
      "  gemm-tune explain --shape 5000x5000x4096 --device H100 --no-vendor --json\n"
      "\n"
      "Reads only, and needs no GPU. Exit code 1 if nothing computes it. docs/runtime.md has the "
      "order of decisions and the JSON's "
      "keys.");
  command->callback([options, &action] {
    action = [options](const Context& context) { return explain_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
