#pragma once

#include "cli/common/command.h"

namespace gemmtune::cli {

// The whole program: parses the command line, runs the command, and returns the exit code: 0 done,
// 1 failed, 2 wrong usage (or not possible on this machine).
int run(int argc, const char* const* argv);

// Adds every command to `root`; see Action for the rest.
void add_commands(CLI::App& root, CommonOptions& common, Action& action);

}  // namespace gemmtune::cli
