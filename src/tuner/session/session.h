#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/search_space.h"
#include "core/device.h"
#include "jit/compiler.h"
#include "store/record_store.h"
#include "tuner/search/search.h"
#include "tuner/session/evaluator.h"
#include "tuner/session/recorder.h"

namespace gemmtune::tuner {

// What to tune and how far to go.
struct TuneRequest {
  Problem problem;                           // any layout; tuned in its canonical form
  std::vector<codegen::SearchSpace> spaces;  // strategies and their parameter values
  SearchMethod method = SearchMethod::model;
  // Of this job, those of earlier runs and of other processes included.
  int max_candidates = 0;
  // From the start of tune() to the end of the search, which goes on until a candidate worked; 0:
  // no limit.
  double max_seconds = 0;
  // End early: without a device once no candidate is left that is predicted to be faster than the
  // best, with one once little is expected of more (Settling).
  bool until_settled = false;
  uint64_t seed = 1;
  int threads = 1;     // that compile, and rank candidates
  bool fresh = false;  // measure again what is recorded already
  bool warm = false;
};

// Where a session is; for a progress display.
struct Progress {
  enum class Phase { vendor, search, finals };
  Phase phase = Phase::search;
  int done = 0;               // candidates, failures included
  int total = 0;              // wanted
  double best_us = 0;         // 0: none yet
  double vendor_best_us = 0;  // 0: none
  std::string best;           // strategy and tile
  bool predicted = false;     // without a device
  bool ends = false;          // nothing more is handed to compilers, as far as is known
};

// Seconds of a search: what it did, one thing at a time, while compilers worked beside it.
struct TimeSpent {
  double vendor = 0;     // measuring the vendor's algorithms
  double choosing = 0;   // candidates, and handing them to the compilers
  double waiting = 0;    // for compilers, or for other processes
  double measuring = 0;  // candidates
  double finals = 0;     // comparing the best
  double turns = 0;      // in all of these, until other processes left the device
};

// What a session found.
struct TuneReport {
  store::Job job;
  std::vector<store::Record> ranking;  // finalists, best first, as recorded
  std::optional<Finalist> best;        // with SessionServices::keep_best: the first of the ranking
  VendorRecords vendor;
  // Without a device, of a strategy that is calibrated: how far predicted times are off, as a
  // factor (Calibration::held_out_spread).
  std::optional<double> predicted_spread;
  // Where a search on a device ended early: the share by which its next candidates were expected to
  // make it faster, and how many at its end did not.
  std::optional<double> expected_gain;
  std::optional<int> without_gain;
  size_t geometries = 0;  // that hold a legal tile, over all spaces
  int resumed = 0;        // candidates taken over from earlier runs and from other processes
  int evaluated = 0;      // candidates of this run, failures included
  int measured = 0;       // of those, verified and timed
  int compiled = 0;       // compiler runs
  int cached = 0;         // kernels that came from the cache
  std::vector<std::pair<std::string, int>> failures;  // outcome and count
  double seconds = 0;                                 // of tune()
  double busy_seconds = 0;  // of these, as Evaluator::busy_seconds() has it
  TimeSpent spent;          // of these, too
  bool interrupted = false;
};

using ProgressFunction = std::function<void(const Progress&)>;

struct SessionServices {
  std::shared_ptr<const jit::KernelCompiler> compiler;
  store::RecordStore* store = nullptr;
  Evaluator* evaluator = nullptr;
  DeviceSpec limits;             // of the device, or of the model that it is predicted for
  std::optional<Device> device;  // present: results are `measured`, else `predicted`
  store::RunInfo run;
  bool keep_best = false;                   // TuneReport::best is wanted: the code that was timed
  ProgressFunction on_progress;             // may be empty
  const std::atomic<bool>* stop = nullptr;  // set to end early with what was found so far
};

// How many candidates an exhaustive search has: legal points of the request's spaces. Stops
// counting at `most`.
size_t count_points(const TuneRequest& request, const DeviceSpec& limits, size_t most);

// The device that results of a session are of: the one that is present, or the modelled one.
Device subject_of(const SessionServices& services);

// Searches, compiles, verifies, measures and records: the only write path. Every candidate is
// recorded as soon as it is evaluated. Processes that tune one job at the same time share its
// candidates: each takes over what the others found, and waits for what they are at before it ends.
// Returns an error if nothing could be tried (no legal tile, arch not served by the compiler) or
// the store fails.
Expected<TuneReport> tune(const TuneRequest& request, const SessionServices& services);

// The same in two steps. The first needs no device: while one problem has the device to itself for
// its last comparison, the next one's first candidates can be compiled.
class Tuning {
 public:
  // Ranks what could be tried and hands the first candidates to compilers, which work from then on.
  // Neither `services.evaluator` nor `services.on_progress` is used; the store is, until the object
  // ends, from one thread at a time. Errors are tune()'s.
  static Expected<Tuning> begin(const TuneRequest& request, const SessionServices& services);

  Tuning(Tuning&&) noexcept;
  Tuning& operator=(Tuning&&) noexcept;
  // Where run() was not called, leaves to other processes what begin() took on.
  ~Tuning();

  // The rest, once. TuneRequest::max_seconds and TuneReport::seconds count what both steps took,
  // without the time between them.
  Expected<TuneReport> run(Evaluator& evaluator, ProgressFunction on_progress) &&;

 private:
  class Session;
  explicit Tuning(std::unique_ptr<Session> session);

  std::unique_ptr<Session> session_;
};

}  // namespace gemmtune::tuner
