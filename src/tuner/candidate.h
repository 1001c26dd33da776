#pragma once

#include "codegen/emitter.h"
#include "store/record.h"
#include "tuner/search.h"

namespace gemmtune::tuner {

// A choice turned into something that can be compiled and recorded.
struct Candidate {
  Choice choice;
  codegen::KernelSpec spec;
  codegen::KernelSource source;
  store::CandidateKey key;
};

// `compiler_version` is NVRTC's, e.g. "13.0".
Candidate make_candidate(const Search& search, const Choice& choice, const Problem& problem,
                         const std::string& compiler_version);

}  // namespace gemmtune::tuner
