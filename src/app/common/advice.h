#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/common/context.h"
#include "app/common/filter.h"
#include "app/common/next_step.h"

namespace gemmtune::app {

// The end of a message: `lead` and the step as the front end words it; empty if that has no words.
std::string advice(const Context& context, std::string_view lead, const NextStep& step);

// The search that finds a kernel for `problem` which `filter` then lets through. The arch is the
// one of the filter, or of its device (one of `devices`), or of this machine's GPU. Where there is
// none of these, or no strategy computes the problem there, it is the lowest on which one does.
// Nothing where none does anywhere.
std::optional<TuneStep> tune_step(const Context& context, const Problem& problem,
                                  const FilterOptions& filter, const DeviceNames& devices);

// advice() of that step, or that there is none.
std::string tune_advice(const Context& context, std::string_view lead, const Problem& problem,
                        const FilterOptions& filter, const DeviceNames& devices);

}  // namespace gemmtune::app
