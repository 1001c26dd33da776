#pragma once

#include <string>
#include <vector>

#include "app/emit/inspect.h"

namespace gemmtune::cli {

// `with_loop` appends the hot loops' code.
std::string inspect_text(const std::vector<app::InspectedKernel>& kernels, bool with_loop);

}  // namespace gemmtune::cli
