#pragma once

#include <string>
#include <vector>

#include "app/tune/tune.h"

namespace gemmtune::cli {

// Each problem's best own time (a dot) and cuBLASLt's (a ring) under the rooflines of the device:
// TFLOP/s over operations per byte, both logarithmic. SVG; empty where nothing has a time.
std::string roofline_svg(const app::TuneSummary& summary);

// How a search came to its best: the time of the best so far over that of the last, over the number
// of candidates. SVG; empty without points.
std::string trace_svg(const std::vector<app::TracePoint>& trace);

}  // namespace gemmtune::cli
