#include "app/tune/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/search/ranked_space.h"

namespace gemmtune::app {
namespace {

// Those of strategies that compute `problem` on some architecture: what they lack here can be had
// elsewhere. All of them if there is none.
std::vector<Refusal> of_known_archs(const std::vector<Refusal>& refusals, const Problem& problem) {
  std::vector<Refusal> chosen;
  for (const Refusal& refusal : refusals) {
    const auto archs = known_archs();
    const bool computes = std::any_of(archs.begin(), archs.end(), [&](Arch arch) {
      return refusal.strategy->supports(problem, arch).has_value();
    });
    if (computes) chosen.push_back(refusal);
  }
  return chosen.empty() ? refusals : chosen;
}

// By reason, since many strategies give the same.
std::string refusals_text(const std::vector<Refusal>& refusals) {
  std::vector<std::pair<std::string, std::string>> reasons;  // and the strategies that give it
  for (const Refusal& refusal : refusals) {
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) {
      return reason.first == refusal.reason;
    });
    if (known == reasons.end()) {
      reasons.emplace_back(refusal.reason, refusal.strategy->name());
    } else {
      known->second += fmt::format(", {}", refusal.strategy->name());
    }
  }
  std::string text;
  for (const auto& [reason, strategies] : reasons)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", strategies, reason);
  return text;
}

}  // namespace

Expected<std::vector<codegen::SearchSpace>> choose_spaces(
    const std::vector<std::string>& strategies, const std::vector<std::string>& files) {
  std::vector<codegen::SearchSpace> from_files;
  for (const std::string& file : files) {
    auto space = codegen::load_search_space(file);
    if (!space) return tl::unexpected(space.error());
    from_files.push_back(std::move(*space));
  }
  std::vector<const codegen::Strategy*> wanted;
  for (const std::string& name : strategies) {
    auto strategy = codegen::find_strategy(name);
    if (!strategy) return tl::unexpected(strategy.error());
    if (std::find(wanted.begin(), wanted.end(), *strategy) == wanted.end())
      wanted.push_back(*strategy);
  }
  for (const codegen::SearchSpace& space : from_files) {
    const bool listed = std::find(wanted.begin(), wanted.end(), space.strategy) != wanted.end();
    if (!strategies.empty() && !listed) {
      return usage_error(fmt::format("a space file is for strategy {}, which --strategy leaves out",
                                     space.strategy->name()));
    }
    if (strategies.empty() && !listed) wanted.push_back(space.strategy);
  }
  if (wanted.empty()) {
    const auto all = codegen::strategies();
    wanted.assign(all.begin(), all.end());
  }
  std::vector<codegen::SearchSpace> spaces;
  for (const codegen::Strategy* strategy : wanted) {
    const auto file =
        std::find_if(from_files.begin(), from_files.end(),
                     [&](const codegen::SearchSpace& space) { return space.strategy == strategy; });
    if (file != from_files.end()) {
      spaces.push_back(*file);
      continue;
    }
    auto space = codegen::default_search_space(*strategy);
    if (!space) return tl::unexpected(space.error());
    spaces.push_back(std::move(*space));
  }
  return spaces;
}

Expected<SupportedSpaces> supported_spaces(const Problem& problem,
                                           const std::vector<codegen::SearchSpace>& spaces,
                                           const Target& target) {
  SupportedSpaces supported;
  const Problem wanted = canonical(problem);
  for (const codegen::SearchSpace& space : spaces) {
    auto done = space.strategy->supports(wanted, target.arch);
    if (done) done = tuner::check_any_legal(space, wanted, target.limits);
    if (done) {
      supported.spaces.push_back(space);
    } else {
      supported.refusals.push_back({space.strategy, done.error().message});
    }
  }
  if (!supported.spaces.empty()) return supported;
  return make_error(ErrorKind::unsupported,
                    fmt::format("no strategy computes it on {} ({})", to_string(target.arch),
                                refusals_text(of_known_archs(supported.refusals, wanted))));
}

}  // namespace gemmtune::app
