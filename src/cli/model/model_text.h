#pragma once

#include <string>

#include "app/model/model_report.h"

namespace gemmtune::cli {

std::string model_report_text(const app::ModelReport& report);

}  // namespace gemmtune::cli
