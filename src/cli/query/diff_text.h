#pragma once

#include <string>

#include "app/query/diff.h"

namespace gemmtune::cli {

std::string diff_text(const app::StoreDiff& diff);

}  // namespace gemmtune::cli
