#pragma once

#include <optional>

#include "store/record.h"
#include "tuner/measure/benchmark.h"

namespace gemmtune::tuner {

// What is stored of a contender's samples; `baseline_us` is of the incumbent beside it. It has a
// sample at least.
store::Measurement to_measurement(const Contender& contender, std::optional<double> baseline_us);

}  // namespace gemmtune::tuner
