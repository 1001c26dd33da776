#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/session.h"

namespace gemmtune::tuner {

// One strategy with its best tile.
struct Rung {
  const codegen::Strategy* strategy = nullptr;
  std::optional<store::Record> best;  // none: `note` says why
  codegen::LoadBytes loads;           // of `best`
  int tried = 0;                      // candidates the best was chosen from, as far as recorded
  std::string note;
};

struct LadderReport {
  store::Job job;
  std::vector<Rung> rungs;  // in the order of the request's spaces
  VendorRecords vendor;
  double seconds = 0;
  bool interrupted = false;
};

struct LadderServices {
  // Of each rung's session; `evaluator` and `on_progress` are not used.
  SessionServices session;
  // An evaluator of the request's problem, beside the vendor's algorithms or without them.
  std::function<Expected<std::unique_ptr<Evaluator>>(bool with_vendor)> make_evaluator;
  // Called before each rung and before the last comparison, with its name; what it returns is told
  // the progress. May be empty.
  std::function<std::function<void(const Progress&)>(std::string_view name)> on_rung;
};

// Finds the best tile of each strategy of request.spaces, one after the other, each in competition
// with itself only: in the store, where request.max_candidates of the strategy were tried before
// and request.fresh is not set, else by a session, which counts what is recorded. The request's
// other limits hold for a session. On a device, all of them and the vendor are then measured
// together, which is what the report holds; without one it holds predictions. Everything is
// recorded. A strategy that fails is a note in its rung; an error means that nothing worked, or
// that the store or the last comparison failed.
Expected<LadderReport> climb(const TuneRequest& request, const LadderServices& services);

}  // namespace gemmtune::tuner
