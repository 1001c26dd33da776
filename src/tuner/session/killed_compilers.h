#pragma once

#include <map>
#include <optional>

#include "core/error.h"
#include "jit/compile.h"
#include "store/record.h"

namespace gemmtune::tuner {

// What a search does where what compiles is killed: a candidate is compiled up to three times, and
// eight compilations in a row that come to nothing end the search.
class KilledCompilers {
 public:
  // Whether a candidate is to be compiled again, whose compilation was killed. An error, which says
  // what to do, if that ends the search.
  Expected<bool> again(const store::CandidateKey& key, const jit::CompileFailure& failure);
  // A compilation came to its end.
  void ended() { in_a_row_ = 0; }

  // The last one's, if there was any.
  const std::optional<Error>& error() const { return error_; }

 private:
  std::map<store::CandidateKey, int> times_;
  int in_a_row_ = 0;
  std::optional<Error> error_;
};

}  // namespace gemmtune::tuner
