#pragma once

#include "cli/common/command.h"

namespace gemmtune::cli {

void add_emit_command(CLI::App& parent, CommonOptions& common, Action& action);
void add_inspect_command(CLI::App& parent, CommonOptions& common, Action& action);

}  // namespace gemmtune::cli
