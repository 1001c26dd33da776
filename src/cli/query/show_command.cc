#include <CLI/CLI.hpp>
#include <memory>

#include "app/query/show.h"
#include "cli/common/command.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print_result.h"
#include "cli/query/commands.h"
#include "cli/query/show_text.h"

namespace gemmtune::cli {

void add_show_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto id = std::make_shared<int64_t>(0);
  CLI::App* command =
      parent.add_subcommand("show", "Show everything about one candidate, with its measurements");
  command->add_option("id", *id, "The candidate's number, from list or query")
      ->required()
      ->type_name("ID")
      ->transform(id_number());
  add_common_options(*command, common);
  command->footer("Example:\n  gemm-tune show 42");
  command->callback([id, &action] {
    action = print_result([id](const Context& context) { return app::show(context, *id); },
                          show_text, app::show_json);
  });
}

}  // namespace gemmtune::cli
