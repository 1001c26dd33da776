#pragma once

#include <string>

#include "app/ladder/ladder.h"

namespace gemmtune::cli {

std::string ladder_text(const app::LadderSummary& summary);

}  // namespace gemmtune::cli
