#pragma once

#include <string>

#include "app/ladder/ladder.h"

namespace gemmtune::cli {

// A bar chart, as a self-contained SVG file.
std::string ladder_svg(const app::LadderSummary& summary);

}  // namespace gemmtune::cli
