#pragma once

#include "cli/common/command.h"

namespace gemmtune::cli {

void add_query_command(CLI::App& parent, CommonOptions& common, Action& action);
void add_list_command(CLI::App& parent, CommonOptions& common, Action& action);
void add_show_command(CLI::App& parent, CommonOptions& common, Action& action);
void add_explain_command(CLI::App& parent, CommonOptions& common, Action& action);
void add_diff_command(CLI::App& parent, CommonOptions& common, Action& action);

}  // namespace gemmtune::cli
