#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "cli/common/command.h"
#include "app/query/list.h"
#include "cli/common/print.h"
#include "core/names.h"

namespace gemmtune::cli {
namespace {

constexpr std::array<std::string_view, 4> kWhat = {"problems", "strategies", "archs", "devices"};

Expected<void> list_and_print(const Context& context, const ListOptions& options, bool csv) {
  const bool json = context.options.json;
  if (csv && json) return usage_error("--csv or --json, not both");
  if (options.what != "problems" && (csv || !options.where.empty()))
    return usage_error("--csv and --where are for problems; list " + options.what + " has neither");
  if (options.what == "strategies") {
    print(json ? strategies_json() : strategies_text());
  } else if (options.what == "archs") {
    print(json ? archs_json() : archs_text());
  } else if (options.what == "devices") {
    auto list = list_devices(context);
    if (!list) return tl::unexpected(list.error());
    print(json ? devices_json(*list) : devices_text(*list));
  } else if (options.what == "problems") {
    auto list = list_problems(context, options);
    if (!list) return tl::unexpected(list.error());
    if (csv) {
      print_exactly(problems_csv(*list));
    } else {
      print(json ? problems_json(*list) : problems_text(*list));
    }
  } else {
    return usage_error(unknown_name_message("thing to list", options.what, kWhat));
  }
  return {};
}

}  // namespace

void add_list_command(CLI::App& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<ListOptions>();
  auto csv = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "list", "Show tuned problems, or the strategies, archs or devices there are");
  command->add_option("what", options->what, "problems (default), strategies, archs or devices");
  add_filter_options(*command, options->filter, true);
  command->add_option("--order", options->order, "problem (default), time or newest")
      ->type_name("ORDER");
  add_where_option(*command, options->where);
  command->add_flag("--csv", *csv, "Print problems as CSV");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune list\n"
      "  gemm-tune list --arch sm_90 --provenance measured --order newest\n"
      "  gemm-tune list --where 'ratio < 1' --csv\n"
      "  gemm-tune list strategies\n"
      "  gemm-tune list devices --json");
  command->callback([options, csv, &action] {
    action = [options, csv](const Context& context) {
      return list_and_print(context, *options, *csv);
    };
  });
}

}  // namespace gemmtune::cli
