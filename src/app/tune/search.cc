#include "app/tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "app/common/version.h"

namespace gemmtune::app {

Expected<tuner::SearchMethod> parse_method(std::string_view text) {
  using tuner::SearchMethod;
  if (text == "model") return SearchMethod::model;
  if (text == "random") return SearchMethod::random;
  if (text == "exhaustive") return SearchMethod::exhaustive;
  return usage_error(
      fmt::format("--search: '{}' is no method; model, random and exhaustive are", text));
}

tuner::TuneRequest make_request(const SearchOptions& options, const DefaultCandidates& candidates,
                                const Problem& problem, std::vector<codegen::SearchSpace> spaces,
                                const Target& target) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  tuner::TuneRequest request;
  request.problem = problem;
  request.spaces = std::move(spaces);
  request.method = options.method;
  request.max_candidates =
      options.candidates.value_or(target.device ? candidates.measured : candidates.predicted);
  request.max_seconds = options.seconds;
  request.seed = options.seed;
  request.threads = options.jobs > 0 ? options.jobs : cores;
  request.fresh = options.fresh;
  request.warm = options.warm;
  return request;
}

Expected<tuner::TuneReport> search(const tuner::TuneRequest& request,
                                   const tuner::Equipment& equipment, tuner::Evaluator& evaluator,
                                   store::RecordStore& store, const std::atomic<bool>& stop,
                                   std::function<void(const tuner::Progress&)> on_progress) {
  tuner::SessionServices services =
      tuner::make_services(request, equipment, store, "tune", kVersion);
  services.evaluator = &evaluator;
  services.on_progress = std::move(on_progress);
  services.stop = &stop;
  return tuner::tune(request, services);
}

}  // namespace gemmtune::app
