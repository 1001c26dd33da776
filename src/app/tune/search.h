#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/common/target.h"
#include "codegen/search_space.h"
#include "core/error.h"
#include "core/problem.h"
#include "store/record_store.h"
#include "tuner/search/search.h"
#include "tuner/session/setup.h"

namespace gemmtune::app {

// How far a search goes.
struct SearchOptions {
  tuner::SearchMethod method = tuner::SearchMethod::model;
  std::optional<int> candidates;  // none: the default
  double seconds = 0;             // 0: no limit
  int jobs = 0;                   // 0: as many as there are cores
  uint64_t seed = 1;
  bool fresh = false;  // also what is recorded already
  bool warm = false;
};

// The most of each that may be asked for.
inline constexpr int kMostCandidates = 1'000'000;  // above any space's legal tiles
inline constexpr double kMostSeconds = 1e7;        // four months

// "model", "random" or "exhaustive"; a usage error if it is none.
Expected<tuner::SearchMethod> parse_method(std::string_view text);

// How far a search goes, in a word: a time ("30s", "5m", "1.5h") or a number of candidates ("200").
// A usage error if it is neither.
Expected<void> take_budget(std::string_view text, SearchOptions& options);

// `jobs`, or as many as there are cores.
int threads_of(const SearchOptions& options);

// Without SearchOptions::candidates.
struct DefaultCandidates {
  int measured = 0;
  int predicted = 0;  // compiling is all they cost
};
inline constexpr DefaultCandidates kTuneCandidates = {360, 96};  // a minute on two cores

// The search of `spaces`, which compute `problem`, for `target`.
tuner::TuneRequest make_request(const SearchOptions& options, const DefaultCandidates& candidates,
                                const Problem& problem, std::vector<codegen::SearchSpace> spaces,
                                const Target& target);

// Begins a search as `request` says; what it tries is recorded in `store`. `store` and `stop` have
// to live as long as it.
Expected<tuner::Tuning> begin_search(const tuner::TuneRequest& request,
                                     const tuner::Equipment& equipment, store::RecordStore& store,
                                     const std::atomic<bool>& stop);

// The same, to its end.
Expected<tuner::TuneReport> search(const tuner::TuneRequest& request,
                                   const tuner::Equipment& equipment, tuner::Evaluator& evaluator,
                                   store::RecordStore& store, const std::atomic<bool>& stop,
                                   tuner::ProgressFunction on_progress);

}  // namespace gemmtune::app
