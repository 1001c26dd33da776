#include "app/tune/trace.h"

namespace gemmtune::app {

void note(const tuner::Progress& progress, std::vector<TracePoint>& trace) {
  if (progress.phase != tuner::Progress::Phase::search || progress.best_us <= 0) return;
  const TracePoint now{progress.done, progress.best_us};
  const size_t size = trace.size();
  // The last point moves on while nothing better is found.
  const bool repeats =
      size > 1 && trace[size - 1].best_us == now.best_us && trace[size - 2].best_us == now.best_us;
  if (repeats) trace.pop_back();
  trace.push_back(now);
}

}  // namespace gemmtune::app
