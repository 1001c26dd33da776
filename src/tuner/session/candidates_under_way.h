#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "jit/compile_pool.h"
#include "tuner/session/candidate.h"
#include "tuner/session/killed_compilers.h"

namespace gemmtune::tuner {

// The candidates of a search that are with the compilers, or compiled and not yet taken from here.
class CandidatesUnderWay {
 public:
  // `threads` compile; < 1 counts as 1.
  CandidatesUnderWay(std::shared_ptr<const jit::KernelCompiler> compiler, int threads);

  void add(Candidate candidate);

  // How many more keep all compilers busy for a while, beside what is compiled already and waits to
  // be measured. No more: what is chosen later is chosen with more known.
  size_t wanted() const;
  // The same for a search that begins, of whose candidates `seeds` need no results to be chosen.
  size_t wanted_at_first(size_t seeds) const;

  size_t count() const { return pool_.pending(); }

  // One that is under way no more. The candidate lives as long as the object that it came from.
  struct Compiled {
    const Candidate& candidate;
    jit::CompileResult result;
    size_t index = 0;
  };
  // The next one; nothing if there was none for so long.
  std::optional<Compiled> next_for(std::chrono::milliseconds timeout);

  // Of one whose compiler was killed: whether it is under way again. An error if that ends the
  // search.
  Expected<bool> compile_again(const Compiled& killed);
  // What the last kill of a compiler says to do, if there was any.
  const std::optional<Error>& killed_error() const { return killed_.error(); }

  // Drops what no compiler has begun with, and what is added from then on.
  void cancel() { pool_.cancel(); }

 private:
  // Keeps all compilers busy for a while.
  size_t usual_batch() const { return threads_ + (threads_ + 1) / 2; }
  size_t most() const { return 2 * threads_; }
  void submit(size_t index);

  size_t threads_;
  std::deque<Candidate> candidates_;  // all that ever were under way, by index
  KilledCompilers killed_;
  jit::CompilePool pool_;
};

}  // namespace gemmtune::tuner
