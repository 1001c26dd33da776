#pragma once

#include <string>

#include "app/query/show.h"

namespace gemmtune::cli {

std::string show_text(const app::ShownRecord& shown);

}  // namespace gemmtune::cli
