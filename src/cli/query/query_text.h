#pragma once

#include <string>

#include "app/query/query.h"

namespace gemmtune::cli {

std::string query_text(const app::QueryAnswer& answer);

// The candidates, or without them the best of each target; then the best of the nearest problems.
std::string query_csv(const app::QueryAnswer& answer);

}  // namespace gemmtune::cli
