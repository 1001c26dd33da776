#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/next_step.h"
#include "core/problem.h"

// Commands that messages advise, as text for a shell: whoever runs one gets what the message says.
namespace gemmtune::cli {

// The options that name `problem`: --shape, and whatever else is not assumed without being said.
// Strides have none; they are those of packed matrices.
std::vector<std::string> problem_arguments(const Problem& problem);

// "gemm-tune list --db 'my results.db'": the command of a step, on the database that --db named
// (empty: the default one).
std::string command_of(const app::NextStep& step, const std::string& db);

// `text` as one word of a shell.
std::string shell_word(std::string_view text);

}  // namespace gemmtune::cli
