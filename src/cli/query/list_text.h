#pragma once

#include <string>

#include "app/query/list.h"

namespace gemmtune::cli {

std::string problems_text(const app::ProblemList& list);
std::string problems_csv(const app::ProblemList& list);
std::string devices_text(const app::DeviceList& list);
std::string strategies_text();
std::string archs_text();

}  // namespace gemmtune::cli
