#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/filter.h"
#include "core/problem.h"

// Commands that messages advise, as text for a shell: whoever runs one gets what the message says.
namespace gemmtune::cli {

// The options that name `problem`: --shape, and whatever else is not assumed without being said.
// Strides have none; they are those of packed matrices.
std::vector<std::string> problem_arguments(const Problem& problem);

// "gemm-tune list --db 'my results.db'": the command on the database that `context` was told to
// use.
std::string command_text(const Context& context, std::vector<std::string> arguments);

// The command that finds a kernel for `problem` which `filter` then lets through. The arch is the
// one of the filter, or of its device (one of `devices`); only where this machine has no GPU is one
// chosen.
std::string tune_command(const Context& context, const Problem& problem,
                         const FilterOptions& filter, const DeviceNames& devices);

// `text` as one word of a shell.
std::string shell_word(std::string_view text);

}  // namespace gemmtune::cli
