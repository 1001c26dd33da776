#include "tuner/session/chooser.h"

#include <algorithm>

namespace gemmtune::tuner {
namespace {

constexpr double kSeedShare = 0.35;           // of the candidates: the model's; the rest is search
constexpr double kCalibratedSeedShare = 0.2;  // the same with a calibration
constexpr double kLearntSeedShare = 0.1;      // where similar problems were learnt from
constexpr double kMostSeedShare = 0.7;        // with suggestions
// Of a search that ends when little is expected of more. With a calibrated share of all that it may
// try as seeds, the first proposal would come when others are near their end.
constexpr int kUsualCandidates = 160;

}  // namespace

Chooser::Chooser(const TuneRequest& request, Search& search, const PriorKnowledge& prior,
                 const Calibration* calibration, bool predicted)
    : request_(request),
      search_(search),
      prior_(prior),
      calibration_(calibration),
      predicted_(predicted) {}

// Suggestions, and as many of the model's favourites as there is reason to trust it.
void Chooser::count_seeds() {
  const double budget = request_.until_settled && is_calibrated()
                            ? std::min(request_.max_candidates, kUsualCandidates)
                            : request_.max_candidates;
  const double by_itself = is_calibrated() ? kCalibratedSeedShare : kSeedShare;
  const double share = prior_.enough() ? kLearntSeedShare : by_itself;
  const double wanted = share * budget + static_cast<double>(search_.suggested());
  seeds_ = static_cast<size_t>(std::min(wanted, kMostSeedShare * budget));
}

bool Chooser::is_calibrated() const {
  return calibration_ != nullptr &&
         std::any_of(request_.spaces.begin(), request_.spaces.end(),
                     [this](const codegen::SearchSpace& space) {
                       return calibration_->knows(space.strategy->name());
                     });
}

std::vector<Choice> Chooser::next(size_t count, int known, int under_way,
                                  std::optional<double> best_us) {
  std::vector<Choice> choices;
  if (request_.method == SearchMethod::random) choices = search_.random_points(count);
  if (request_.method != SearchMethod::model)
    return choices.empty() ? search_.next_points(count) : choices;
  if (predicted_) return search_.seeds(count);
  while (choices.empty() && asked_seeds_ < seeds_) {
    asked_seeds_ = std::min(asked_seeds_ + count, seeds_);
    choices = search_.first_seeds(asked_seeds_);
  }
  if (!choices.empty()) return choices;
  choices = search_.proposals(count);
  if (best_us) settling_.note(search_.expected_gain(), known, under_way, *best_us);
  return choices.empty() ? search_.seeds(count) : choices;
}

bool Chooser::goes_on(int known, double best_us) {
  settling_.confirm(known, best_us);
  return !ends_early();
}

}  // namespace gemmtune::tuner
