#pragma once

#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "app/tune/search.h"
#include "store/record_store.h"
#include "tuner/session/session.h"

namespace gemmtune::app {

struct TuneOptions {
  ProblemOptions problems;
  TargetOptions target;
  std::vector<std::string> strategies;   // empty: all that compute the problem
  std::vector<std::string> space_files;  // replace the compiled-in spaces of their strategies
  std::string method = "model";          // see parse_method()
  std::string budget;                    // see take_budget(); empty: as `search` says
  bool thin_rows = false;                // see thin_rows()
  std::string shard;                     // "2/8": only this part of the problems; empty: all
  SearchOptions search;
  // For several devices: a program that calls serve_tuning() (devices/worker.h), by its path, and
  // its arguments, the name that it is called by first.
  std::string worker_program;
  std::vector<std::string> worker_arguments;
};

// A problem with the search for it, or why there is none.
struct PlannedProblem {
  WantedProblem wanted;
  tuner::TuneRequest request;
  double floor_us = 0;  // of one call; see roofline.h
  std::string skipped;
};

// What would be tuned.
struct TunePlan {
  Machine machine;
  Target target;
  SearchOptions search;                  // of each problem, with method and budget
  std::vector<PlannedProblem> problems;  // as they were asked for; at least one is not skipped
  std::vector<size_t> order;  // in which they are tuned, indices of `problems`; skipped ones last
};

// Those that are not skipped.
size_t count_planned(const std::vector<PlannedProblem>& problems);

// `order` without those that are skipped.
std::vector<size_t> planned_order(const TunePlan& plan);

// The search for one problem, or why there is none.
PlannedProblem plan_problem(const WantedProblem& wanted,
                            const std::vector<codegen::SearchSpace>& spaces, const Target& target,
                            const SearchOptions& options);

// Moves problems to the end of `order`, indices of `planned`, that have an answer already: a
// current result of a final round on one of the target's devices. A command that is run again after
// it was interrupted then begins with what is missing.
void put_unanswered_first(store::RecordStore& store, const Target& target, bool warm,
                          const std::vector<PlannedProblem>& planned, std::vector<size_t>& order);

// Everything that is found out before anything is written. Problems on which a step of their
// program spends most come first: by count times floor_us, whose share is there to be gained; those
// that have an answer already come last.
Expected<TunePlan> plan_tune(const Context& context, const TuneOptions& options);

// As one JSON object, ended by a newline.
std::string plan_json(const TunePlan& plan);

}  // namespace gemmtune::app
