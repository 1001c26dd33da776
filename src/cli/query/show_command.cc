#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common/command.h"
#include "cli/common/number_option.h"
#include "cli/common/print.h"
#include "app/query/show.h"

namespace gemmtune::cli {

void add_show_command(CLI::App& app, CommonOptions& common, Action& action) {
  auto id = std::make_shared<int64_t>(0);
  CLI::App* command =
      app.add_subcommand("show", "Show everything about one candidate, with its measurements");
  command->add_option("id", *id, "The candidate's number, from list or query")
      ->required()
      ->type_name("ID")
      ->transform(id_number());
  add_common_options(*command, common);
  command->footer("Example:\n  gemm-tune show 42");
  command->callback([id, &action] {
    action = [id](const Context& context) -> Expected<void> {
      auto shown = run_show(context, *id);
      if (!shown) return tl::unexpected(shown.error());
      print(context.options.json ? show_json(*shown) : show_text(*shown));
      return {};
    };
  });
}

}  // namespace gemmtune::cli
