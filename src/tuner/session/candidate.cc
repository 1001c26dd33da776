#include "tuner/session/candidate.h"

namespace gemmtune::tuner {

Candidate make_candidate(const codegen::KernelSpec& spec, const std::string& compiler_version) {
  Candidate candidate;
  candidate.spec = spec;
  candidate.source = codegen::emit(spec);
  candidate.key = {std::string(spec.strategy->name()), to_string(spec.tile),
                   codegen::source_hash(candidate.source), compiler_version};
  return candidate;
}

Candidate make_candidate(const Search& search, const Choice& choice, const Problem& problem,
                         Arch capability, const std::string& compiler_version) {
  Candidate candidate = make_candidate(
      codegen::spec_for(search.strategy(choice), search.tile(choice), problem, capability),
      compiler_version);
  candidate.choice = choice;
  return candidate;
}

std::optional<codegen::KernelSpec> kernel_of(const store::Record& record) {
  const auto spec = codegen::parse_spec(record.key.strategy, record.key.config,
                                        canonical(record.job.problem), record.job.arch);
  return spec ? std::optional(*spec) : std::nullopt;
}

}  // namespace gemmtune::tuner
