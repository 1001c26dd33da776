#pragma once

#include "cli/common/command.h"

namespace gemmtune::cli {

void add_model_command(CLI::App& parent, CommonOptions& common, Action& action);

}  // namespace gemmtune::cli
