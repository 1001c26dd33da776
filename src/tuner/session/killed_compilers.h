#pragma once

#include <map>
#include <optional>

#include "core/error.h"
#include "jit/compiler.h"
#include "store/record.h"

namespace gemmtune::tuner {

// Whether what compiled was killed: that says nothing of the kernel, and is not recorded.
bool was_killed(const jit::CompileResult& result);

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

// Compiles up to three times where what compiles is killed; an error, which says what to do, if it
// always was.
Expected<jit::CompileResult> compile_again(const jit::KernelCompiler& compiler,
                                           const jit::CompileRequest& request);

}  // namespace gemmtune::tuner
