#pragma once

#include <string>

#include "app/bench/bench.h"

namespace gemmtune::cli {

std::string bench_text(const app::BenchReport& report);

// A line for each problem.
std::string bench_csv(const app::BenchReport& report);

}  // namespace gemmtune::cli
