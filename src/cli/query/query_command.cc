#include <CLI/CLI.hpp>
#include <memory>

#include "app/query/query.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/query/commands.h"
#include "cli/query/query_text.h"

namespace gemmtune::cli {

void add_query_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::QueryOptions>();
  auto csv = std::make_shared<bool>(false);
  CLI::App* command =
      parent.add_subcommand("query", "Print the best config of a problem and where it came from");
  add_problem_options(*command, options->problem, false);
  add_filter_options(*command, options->filter, false);
  command->add_flag("--all", options->all, "Also every candidate that was tried, best first");
  command->add_flag("--nearest", options->nearest, "Also the best of the most similar problems");
  add_where_option(*command, options->where);
  command->add_flag("--csv", *csv, "Print CSV instead of tables");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune query --shape 5120x5120x4096 --arch sm_80\n"
      "  gemm-tune query --shape 5120x5120x4096 --all --json\n"
      "  gemm-tune query --shape 5000x5000x4096 --nearest\n"
      "  gemm-tune query --shape 5120x5120x4096 --all --where 'registers <= 128' --csv\n"
      "\n"
      "Reads only. Exit code 1 if there is no result.");
  command->callback([options, csv, &action] {
    action = [options, csv](const Context& context) -> Expected<void> {
      if (*csv && context.json) return usage_error("--csv or --json, not both");
      auto answer = app::query(context, *options);
      if (!answer) return tl::unexpected(answer.error());
      const bool found = answer->nothing.empty();
      if (context.json) {
        print(app::query_json(*answer));
      } else if (found) {
        *csv ? print_exactly(query_csv(*answer)) : print(query_text(*answer));
      }
      return found ? Expected<void>{} : make_error(ErrorKind::not_found, answer->nothing);
    };
  });
}

}  // namespace gemmtune::cli
