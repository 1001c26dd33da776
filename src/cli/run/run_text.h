#pragma once

#include <string>

#include "app/run/run.h"

namespace gemmtune::cli {

std::string run_report_text(const app::RunReport& report);

}  // namespace gemmtune::cli
