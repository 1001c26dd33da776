#include <CLI/CLI.hpp>
#include <memory>

#include "app/query/diff.h"
#include "cli/common/command.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print_result.h"
#include "cli/query/commands.h"
#include "cli/query/diff_text.h"

namespace gemmtune::cli {
namespace {

constexpr double kMostPercent = 1e6;

}  // namespace

void add_diff_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<app::DiffOptions>();
  CLI::App* command = parent.add_subcommand(
      "diff", "Compare the best results of two databases, problem by problem");
  command->add_option("A.db", options->file_a, "A database")->required()->type_name("FILE");
  command->add_option("B.db", options->file_b, "Another")->required()->type_name("FILE");
  command
      ->add_option("--threshold", options->threshold_percent,
                   "Leave out times that differ by no more than PCT percent")
      ->type_name("PCT")
      ->transform(number_not_negative(kMostPercent));
  add_filter_options(*command, options->filter, true);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune diff before.db after.db --threshold 2\n"
      "  gemm-tune diff before.db after.db --device H200 --json\n"
      "\n"
      "A/B above 1: B is faster. What got slower comes first.");
  command->callback([options, &action] {
    action = print_result(
        [options](const Context& context) -> Expected<app::StoreDiff> {
          if (!context.places.db.empty())
            return usage_error("diff names both databases itself: leave out --db");
          return app::diff(*options);
        },
        diff_text, app::diff_json);
  });
}

}  // namespace gemmtune::cli
