#pragma once

#include <string>

#include "app/model/model_fit.h"
#include "app/model/model_report.h"

namespace gemmtune::cli {

std::string model_report_text(const app::ModelReport& report);
std::string model_fit_text(const app::ModelFit& fit);

}  // namespace gemmtune::cli
