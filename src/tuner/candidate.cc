#include "tuner/candidate.h"

namespace gemmtune::tuner {

Candidate make_candidate(const Search& search, const Choice& choice, const Problem& problem,
                         const std::string& compiler_version) {
  Candidate candidate;
  candidate.choice = choice;
  candidate.spec = {&search.strategy(choice), search.tile(choice), codegen::traits_for(problem),
                    problem.type};
  candidate.source = codegen::emit(candidate.spec);
  candidate.key = {std::string(candidate.spec.strategy->name()), to_string(candidate.spec.tile),
                   codegen::source_hash(candidate.source), compiler_version};
  return candidate;
}

}  // namespace gemmtune::tuner
