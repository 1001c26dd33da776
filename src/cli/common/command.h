#pragma once

#include <functional>

#include "cli/common/cli11_fwd.h"
#include "app/common/problems.h"
#include "app/common/services.h"

namespace gemmtune::cli {

// What a parsed command line does: computes, and prints to stdout.
using Action = std::function<Expected<void>(const Context&)>;

// Each adds one subcommand to `app`, which sets `action` when it is chosen. `common` is shared by
// all; both outlive the parsing.
void add_tune_command(CLI::App& app, CommonOptions& common, Action& action);
void add_query_command(CLI::App& app, CommonOptions& common, Action& action);
void add_list_command(CLI::App& app, CommonOptions& common, Action& action);
void add_show_command(CLI::App& app, CommonOptions& common, Action& action);
void add_emit_command(CLI::App& app, CommonOptions& common, Action& action);
void add_verify_command(CLI::App& app, CommonOptions& common, Action& action);
void add_bench_command(CLI::App& app, CommonOptions& common, Action& action);
void add_ladder_command(CLI::App& app, CommonOptions& common, Action& action);
void add_inspect_command(CLI::App& app, CommonOptions& common, Action& action);
void add_db_command(CLI::App& app, CommonOptions& common, Action& action);
void add_diff_command(CLI::App& app, CommonOptions& common, Action& action);
void add_explain_command(CLI::App& app, CommonOptions& common, Action& action);
void add_doctor_command(CLI::App& app, CommonOptions& common, Action& action);

// All of them.
void add_commands(CLI::App& app, CommonOptions& common, Action& action);

// --db, --cache-dir, --no-cache, --json, -v, -q.
void add_common_options(CLI::App& command, CommonOptions& common);
// --shape, --type ...; --suite and ranges only where several problems make sense.
void add_problem_options(CLI::App& command, ProblemOptions& options, bool several);
// --arch and --device.
void add_target_options(CLI::App& command, TargetOptions& options);

}  // namespace gemmtune::cli
