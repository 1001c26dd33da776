#pragma once

#include <string>
#include <vector>

#include "app/common/filter.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "cli/common/cli11_fwd.h"
#include "cli/common/command.h"

// Options that several commands have.
namespace gemmtune::cli {

// --db, --cache-dir, --no-cache, --json, -v, -q.
void add_common_options(CLI::App& command, CommonOptions& common);

// --shape, --type ...; --suite and ranges only where several problems make sense.
void add_problem_options(CLI::App& command, app::ProblemOptions& options, bool several);

// Has --suite take several files, as a shell makes of *.json: for commands without positionals,
// which it would take as well.
void take_several_suites(CLI::App& command);

// --arch and --device.
void add_device_options(CLI::App& command, app::TargetOptions& options);

// The same and --model, for a command that predicts where it cannot measure.
void add_target_options(CLI::App& command, app::TargetOptions& options);

// --devices, for a command that measures on several at once.
void add_devices_option(CLI::App& command, app::TargetOptions& options);

// --arch, --device, --strategy, --provenance and --warm; --type only with `with_type`, for commands
// that take no problem.
void add_filter_options(CLI::App& command, app::FilterOptions& options, bool with_type);

// --where, any number of times; see app/query/where.h.
void add_where_option(CLI::App& command, std::vector<std::string>& conditions);

}  // namespace gemmtune::cli
