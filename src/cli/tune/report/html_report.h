#pragma once

#include <map>
#include <string>

#include "app/tune/tune.h"

namespace gemmtune::cli {

// Everything that a command found as one HTML page, which loads nothing else: own times against
// cuBLASLt's, rooflines, each problem's finalists and search, and the sources of the best kernels.
// `sources` has them by the problem's text; a problem may have none.
std::string tune_report_html(const app::TuneSummary& summary,
                             const std::map<std::string, std::string>& sources);

}  // namespace gemmtune::cli
