#pragma once

#include <memory>

#include "core/device.h"
#include "tuner/model/calibration.h"
#include "tuner/search/search.h"

namespace gemmtune::tuner {

// A space as a search takes it: what is legal for `problem` (canonical) within `limits` and can
// win, ranked by the performance model and what corrects it, if anything does.
Search::Space ranked_space(const codegen::SearchSpace& space, const Problem& problem,
                           const DeviceSpec& limits,
                           std::shared_ptr<const Calibration> calibration = nullptr);

// Fails with ErrorKind::usage, naming a rule that is broken, if no tile of `space` can be tried:
// none is legal for `problem` (canonical) within `limits`, or none can win. The message goes on
// from a strategy's name.
Expected<void> check_any_legal(const codegen::SearchSpace& space, const Problem& problem,
                               const DeviceSpec& limits);

// The kernel of a strategy with the tile that the model ranks first, for `problem` (canonical).
// Ranked by so many threads, with the calibration that comes with the program. Errors as
// check_any_legal().
Expected<codegen::KernelSpec> best_by_model(const codegen::Strategy& strategy,
                                            const Problem& problem, const DeviceSpec& limits,
                                            int threads);

}  // namespace gemmtune::tuner
