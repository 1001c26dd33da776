#include "app/tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "app/common/version.h"

namespace gemmtune::app {
namespace {

// Of what follows a number; 0 if that is no unit of time.
double seconds_of(std::string_view unit) {
  if (unit == "s") return 1;
  if (unit == "m") return 60;
  return unit == "h" ? 3600 : 0;
}

}  // namespace

Expected<void> take_budget(std::string_view text, SearchOptions& options) {
  const char* const end = text.data() + text.size();
  int candidates = 0;
  if (const auto [stop, code] = std::from_chars(text.data(), end, candidates);
      code == std::errc() && stop == end && candidates > 0 && candidates <= kMostCandidates) {
    options.candidates = candidates;
    return {};
  }
  double number = 0;
  if (const auto [stop, code] = std::from_chars(text.data(), end, number); code == std::errc()) {
    const double seconds = number * seconds_of(std::string_view(stop, end));
    if (seconds > 0 && seconds <= kMostSeconds) {
      options.seconds = seconds;
      return {};
    }
  }
  return usage_error(fmt::format(
      "--budget: '{}' is refused; a time (30s, 5m, 1.5h) or a number of candidates (200) is needed",
      text));
}

Expected<tuner::SearchMethod> parse_method(std::string_view text) {
  using tuner::SearchMethod;
  if (text == "model") return SearchMethod::model;
  if (text == "random") return SearchMethod::random;
  if (text == "exhaustive") return SearchMethod::exhaustive;
  return usage_error(
      fmt::format("--search: '{}' is no method; model, random and exhaustive are", text));
}

int threads_of(const SearchOptions& options) {
  if (options.jobs > 0) return options.jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

tuner::TuneRequest make_request(const SearchOptions& options, const DefaultCandidates& candidates,
                                const Problem& problem, std::vector<codegen::SearchSpace> spaces,
                                const Target& target) {
  tuner::TuneRequest request;
  request.problem = problem;
  request.spaces = std::move(spaces);
  request.method = options.method;
  request.max_candidates =
      options.candidates.value_or(target.device ? candidates.measured : candidates.predicted);
  request.max_seconds = options.seconds;
  request.seed = options.seed;
  request.threads = threads_of(options);
  request.fresh = options.fresh;
  request.warm = options.warm;
  return request;
}

Expected<tuner::Tuning> begin_search(const tuner::TuneRequest& request,
                                     const tuner::Equipment& equipment, store::RecordStore& store,
                                     const std::atomic<bool>& stop) {
  tuner::SessionServices services =
      tuner::make_services(request, equipment, store, "tune", kVersion);
  services.stop = &stop;
  return tuner::Tuning::begin(request, services);
}

Expected<tuner::TuneReport> search(const tuner::TuneRequest& request,
                                   const tuner::Equipment& equipment, tuner::Evaluator& evaluator,
                                   store::RecordStore& store, const std::atomic<bool>& stop,
                                   tuner::ProgressFunction on_progress) {
  auto tuning = begin_search(request, equipment, store, stop);
  if (!tuning) return tl::unexpected(tuning.error());
  return std::move(*tuning).run(evaluator, std::move(on_progress));
}

}  // namespace gemmtune::app
