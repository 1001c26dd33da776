#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "app/query/list.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/query/commands.h"
#include "cli/query/list_text.h"
#include "core/names.h"

namespace gemmtune::cli {
namespace {

constexpr std::array<std::string_view, 4> kWhat = {"problems", "strategies", "archs", "devices"};

struct ListCommandOptions {
  std::string what = "problems";
  app::ListOptions list;
  bool csv = false;
};

Expected<void> list_and_print(const Context& context, const ListCommandOptions& options) {
  const bool csv = options.csv;
  const bool json = context.json;
  if (csv && json) return usage_error("--csv or --json, not both");
  const bool known = std::find(kWhat.begin(), kWhat.end(), options.what) != kWhat.end();
  const bool for_problems = csv || options.list != app::ListOptions{};
  if (known && options.what != "problems" && for_problems) {
    return usage_error("filters, --where, --order and --csv are for problems; list " +
                       options.what + " has none of them");
  }
  if (options.what == "strategies") {
    print(json ? app::strategies_json() : strategies_text());
  } else if (options.what == "archs") {
    print(json ? app::archs_json() : archs_text());
  } else if (options.what == "devices") {
    auto list = app::list_devices(context);
    if (!list) return tl::unexpected(list.error());
    print(json ? app::devices_json(*list) : devices_text(*list));
  } else if (options.what == "problems") {
    auto list = app::list_problems(context, options.list);
    if (!list) return tl::unexpected(list.error());
    if (csv) {
      print_exactly(problems_csv(*list));
    } else {
      print(json ? app::problems_json(*list) : problems_text(*list));
    }
  } else {
    return usage_error(unknown_name_message("thing to list", options.what, kWhat));
  }
  return {};
}

}  // namespace

void add_list_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<ListCommandOptions>();
  CLI::App* command = parent.add_subcommand(
      "list", "Show tuned problems, or the strategies, archs or devices there are");
  command->add_option("what", options->what, "problems (default), strategies, archs or devices");
  add_filter_options(*command, options->list.filter, true);
  command->add_option("--order", options->list.order, "problem (default), time or newest")
      ->type_name("ORDER");
  add_where_option(*command, options->list.where);
  command->add_flag("--csv", options->csv, "Print problems as CSV");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune list\n"
      "  gemm-tune list --arch sm_90 --provenance measured --order newest\n"
      "  gemm-tune list --where 'ratio < 1' --csv\n"
      "  gemm-tune list strategies\n"
      "  gemm-tune list devices --json");
  command->callback([options, &action] {
    action = [options](const Context& context) { return list_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
