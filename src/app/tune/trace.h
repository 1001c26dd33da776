#pragma once

#include <vector>

#include "tuner/session/session.h"

namespace gemmtune::app {

// The best time so far, when `candidates` had been tried.
struct TracePoint {
  int candidates = 0;
  double best_us = 0;
};

// Adds where a search is to its trace.
void note(const tuner::Progress& progress, std::vector<TracePoint>& trace);

}  // namespace gemmtune::app
