#pragma once

#include <string_view>

namespace gemmtune::cli {

// Writes to stdout at once, so that what a long command found is seen (and piped on) when it is
// found. Throws std::runtime_error if stdout cannot be written (a full disk, a closed pipe).
void print(std::string_view text);

}  // namespace gemmtune::cli
