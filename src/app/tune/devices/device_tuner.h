#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "app/common/context.h"
#include "app/tune/plan.h"
#include "app/tune/tune.h"
#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::app {

// What is tuned on several devices; all of it outlives the tuning.
struct DeviceTuning {
  const Context& context;
  const TuneOptions& options;  // of which only what a worker needs beside the plan
  const TunePlan& plan;
  store::RecordStore& store;
  const std::atomic<bool>& stop;
  const TuneEvents& events;
};

// Tunes the problems of a plan on its devices, by a process for each: whichever is free takes the
// next problem. Results are by problem; nothing for those that `stop` came before. The compilers of
// all processes together are options.search.jobs, one for each process at least. Devices whose
// processes keep ending are left out. Error if no device could begin, or the store fails.
Expected<std::vector<std::optional<TunedProblem>>> tune_on_devices(const DeviceTuning& tuning);

}  // namespace gemmtune::app
