#pragma once

#include <optional>

#include "codegen/emitter.h"
#include "store/record.h"
#include "tuner/search/search.h"

namespace gemmtune::tuner {

// A kernel turned into something that can be compiled and recorded.
struct Candidate {
  Choice choice;  // where it came from a search
  codegen::KernelSpec spec;
  codegen::KernelSource source;
  store::CandidateKey key;
};

// `compiler_version` is NVRTC's, e.g. "13.0".
Candidate make_candidate(const codegen::KernelSpec& spec, const std::string& compiler_version);
Candidate make_candidate(const Search& search, const Choice& choice, const Problem& problem,
                         Arch capability, const std::string& compiler_version);

// The kernel that a record describes, as this program generates it today; nothing for a vendor's
// algorithm, or for a strategy or tile that this program does not know.
std::optional<codegen::KernelSpec> kernel_of(const store::Record& record);

}  // namespace gemmtune::tuner
