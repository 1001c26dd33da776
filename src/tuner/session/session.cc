#include "tuner/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <tuple>

#include "core/seconds_since.h"
#include "jit/compile_again.h"
#include "tuner/model/known_calibration.h"
#include "tuner/search/ranked_space.h"
#include "tuner/session/candidate.h"
#include "tuner/session/candidates_under_way.h"
#include "tuner/session/chooser.h"
#include "tuner/session/failures.h"
#include "tuner/session/final_round.h"
#include "tuner/session/finalists.h"
#include "tuner/session/known_candidates.h"
#include "tuner/session/prior_knowledge.h"
#include "tuner/session/recorder.h"
#include "tuner/session/shared_work.h"
#include "tuner/session/staleness.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kProposalBatch = 8;  // candidates asked for at a time by search
constexpr int kRound = 8;  // candidates tried before a search without a device may end, and further
constexpr auto kPoll = std::chrono::milliseconds(100);

using Clock = std::chrono::steady_clock;

// Adds the time that it lives to a sum of seconds.
class Spent {
 public:
  explicit Spent(double& seconds) : seconds_(seconds) {}
  ~Spent() { seconds_ += seconds_since(start_); }
  Spent(const Spent&) = delete;
  Spent& operator=(const Spent&) = delete;

 private:
  double& seconds_;
  const Clock::time_point start_ = Clock::now();
};

using SharedCalibration = std::shared_ptr<const Calibration>;

std::vector<Search::Space> searched_spaces(const TuneRequest& request, const Problem& problem,
                                           const DeviceSpec& limits,
                                           const SharedCalibration& calibration) {
  std::vector<Search::Space> spaces;
  for (const codegen::SearchSpace& space : request.spaces)
    spaces.push_back(ranked_space(space, problem, limits, calibration));
  return spaces;
}

}  // namespace

// One tuning run: the loop between search, compile pool, evaluator and store.
class Tuning::Session {
 public:
  Session(const TuneRequest& request, SessionServices services,
          const SharedCalibration& calibration)
      : request_(request),
        services_(std::move(services)),
        problem_(canonical(request.problem)),
        compiler_version_(to_string(services_.compiler->version())),
        search_(searched_spaces(request, problem_, services_.limits, calibration), request.seed,
                request.threads,
                predicted() ? RankingOrder::cheapest_first : RankingOrder::in_turns),
        job_{problem_, services_.limits.arch, subject_of(services_).uuid, request.warm},
        prior_(*services_.store, job_, services_.limits, calibration.get(), search_),
        calibration_(calibration),
        chooser_(request_, search_, prior_, calibration_.get(), predicted()),
        known_(job_, search_, prior_, finalists_, compiler_version_),
        work_(*services_.store, job_, [this](const auto& key) { return known_.may_try(key); }),
        under_way_(services_.compiler, request.threads) {
    report_.job = job_;
  }

  // Nothing is held back from other processes afterwards.
  ~Session() {
    under_way_.cancel();
    std::ignore = work_.release();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Up to the first candidates' compilation, for which no evaluator is needed.
  Expected<void> begin() {
    if (auto ready = prepare(); !ready) return ready;
    chooser_.count_seeds();
    round_ = predicted() && request_.until_settled ? kRound : request_.max_candidates;
    if (auto done = fill(under_way_.wanted_at_first(chooser_.seeds())); !done) return done;
    begun_seconds_ = seconds_since(start_);
    return {};
  }

  Expected<TuneReport> run(Evaluator& evaluator, ProgressFunction on_progress) {
    start_ = Clock::now();
    services_.evaluator = &evaluator;
    services_.on_progress = std::move(on_progress);
    evaluator.calibrate(calibration_);
    if (auto done = vendor_baseline(); !done) return tl::unexpected(done.error());
    auto searched = search_loop();
    if (auto released = work_.release(); !released) return tl::unexpected(released.error());
    if (!searched) return tl::unexpected(searched.error());
    report_.resumed = known_.resumed();
    if (auto done = finals(); !done) return tl::unexpected(done.error());
    report_.seconds = elapsed();
    report_.busy_seconds = services_.evaluator->busy_seconds();
    report_.spent.turns = services_.evaluator->waited_seconds();
    return std::move(report_);
  }

 private:
  // Without the time between begin() and run().
  double elapsed() const { return begun_seconds_ + seconds_since(start_); }
  bool stopped() const { return services_.stop != nullptr && services_.stop->load(); }
  // What evaluates candidates then is what ranks them, but for the compiler's count of registers:
  // so the ranking's order is all there is to follow.
  bool predicted() const { return !services_.device; }
  bool out_of_time() const { return request_.max_seconds > 0 && elapsed() > request_.max_seconds; }

  Expected<void> prepare() {
    report_.geometries = search_.geometries();
    if (report_.geometries == 0) {
      return usage_error("no tile of the search space is legal for " + key(problem_) + " on " +
                         to_string(job_.arch));
    }
    if (auto added = services_.store->add_device(subject_of(services_)); !added) return added;
    auto run = services_.store->begin_run(services_.run);
    if (!run) return tl::unexpected(run.error());
    recorder_.emplace(*services_.store, report_.job, *run);
    const Toolchain now{compiler_version_, services_.run.driver_version};
    if (auto judged = judge_records(*services_.store, now); !judged)
      return tl::unexpected(judged.error());
    if (auto started = work_.start(request_.fresh); !started) return started;
    if (!request_.fresh) {
      auto records = services_.store->candidates(problem_, prior_.own_records());
      if (!records) return tl::unexpected(records.error());
      known_.resume(*records);
    }
    if (!request_.fresh && services_.device && request_.method == SearchMethod::model) {
      if (auto done = prior_.learn(); !done) return done;
    }
    return prior_.borrow();
  }

  // Takes over what other processes recorded in the meantime.
  Expected<void> take_news() {
    auto records = work_.news();
    if (!records) return tl::unexpected(records.error());
    known_.take_over_news(*records);
    return {};
  }

  Expected<void> vendor_baseline() {
    const Spent spent(report_.spent.vendor);
    progress(Progress::Phase::vendor);
    auto results = services_.evaluator->measure_vendor();
    if (!results) return tl::unexpected(results.error());
    prior_.borrow_from_vendor(*results);
    chooser_.count_seeds();
    return recorder_->vendors(*results, report_.vendor);
  }

  // Candidates of the job that are finished, by whoever tried them.
  int known() const { return known_.resumed() + report_.evaluated; }

  int under_way() const { return static_cast<int>(under_way_.count()); }

  // Candidates of the job, or of this round of it, that nobody has finished.
  int left() const { return std::min(round_, request_.max_candidates) - known(); }

  // Whether all that may be tried is known or under way.
  bool nothing_to_hand_out() const { return left() <= under_way(); }

  // Whether another round may find something, which then begins. In whole rounds: what is tried
  // does not depend on which compilation ends first.
  bool next_round() {
    if (round_ >= request_.max_candidates || settled()) return false;
    round_ = known() + kRound;
    return true;
  }

  // Compilers find more registers than the ranking counts, not fewer.
  bool settled() {
    const Finalists::Scored* fastest = finalists_.fastest();
    return fastest != nullptr && fastest->time_us <= search_.least_cost_left();
  }

  Expected<void> search_loop() {
    while (true) {
      if (auto done = work_.renew(); !done) return done;
      if (auto done = take_news(); !done) return done;
      if (stopped()) break;
      if (auto done = fill_up(); !done) return done;
      const bool idle = under_way_.count() == 0;
      if (out_of_time() && has_tried_enough(idle)) break;
      if (idle && left() <= 0 && next_round()) continue;
      if (idle && goes_on_after_all()) continue;
      if (idle && (left() <= 0 || chooser_.ends_early() || !work_.others_at_work())) break;
      if (idle) {
        progress(Progress::Phase::search);
        const Spent spent(report_.spent.waiting);
        std::this_thread::sleep_for(kPoll);
        continue;
      }
      const auto compiled = next_compiled();
      if (!compiled) continue;
      if (auto done = take_compiled(*compiled); !done) return done;
      progress(Progress::Phase::search);
    }
    report_.interrupted = stopped();
    if (chooser_.ends_early() && left() > 0) {
      report_.expected_gain = chooser_.expected_gain();
      report_.without_gain = chooser_.without_gain();
    }
    under_way_.cancel();
    return {};
  }

  std::optional<CandidatesUnderWay::Compiled> next_compiled() {
    const Spent spent(report_.spent.waiting);
    return under_way_.next_for(kPoll);
  }

  // Whether what was under way when little was expected any more did better than that.
  bool goes_on_after_all() {
    return chooser_.ends_early() && left() > 0 &&
           chooser_.goes_on(known(), finalists_.fastest()->time_us);
  }

  // However short the time, a search tries something, and ends with something.
  bool has_tried_enough(bool idle) const {
    return finalists_.fastest() != nullptr && (idle || report_.evaluated > 0);
  }

  Expected<void> fill_up() {
    const size_t wanted = under_way_.wanted();
    return wanted == 0 ? Expected<void>() : fill(wanted);
  }

  // Hands `wanted` candidates to the compilers, of what other processes leave free.
  Expected<void> fill(size_t wanted) {
    const Spent spent(report_.spent.choosing);
    if (chooser_.ends_early()) return {};
    while (under_way() < left()) {
      auto taken = work_.take(wanted, left());
      if (!taken) return tl::unexpected(taken.error());
      wanted -= taken->size();
      for (Candidate& candidate : *taken) under_way_.add(std::move(candidate));
      if (wanted == 0 || work_.budget_used_up()) break;
      if (!choose_more(left() - under_way())) break;
    }
    return {};
  }

  // False if nothing is left to choose.
  bool choose_more(int most) {
    if (most <= 0) return false;
    const size_t wanted = std::min(kProposalBatch, static_cast<size_t>(most));
    const Finalists::Scored* fastest = finalists_.fastest();
    const std::vector<Choice> choices = chooser_.next(
        wanted, known(), under_way(), fastest ? std::optional(fastest->time_us) : std::nullopt);
    for (const Choice& choice : choices) work_.offer(known_.make(choice));
    return !choices.empty();
  }

  Expected<void> take_compiled(const CandidatesUnderWay::Compiled& compiled) {
    if (!jit::was_killed(compiled.result)) return evaluate(compiled.candidate, compiled.result);
    const auto again = under_way_.compile_again(compiled);
    if (!again) return tl::unexpected(again.error());
    if (!*again) work_.give_up_one();
    return {};
  }

  Expected<void> evaluate(const Candidate& candidate, const jit::CompileResult& compiled) {
    const Spent spent(report_.spent.measuring);
    ++report_.evaluated;
    known_.count(candidate.key);
    Evaluation evaluation;
    Expected<store::Record> record;
    if (!compiled) {
      record = recorder_->failed(candidate, store::Outcome::compile_failed,
                                 compiled.error().first_error);
    } else {
      ++(compiled->from_cache ? report_.cached : report_.compiled);
      auto judged = judge(candidate, *compiled);
      if (!judged) return tl::unexpected(judged.error());
      evaluation = std::move(*judged);
      record = recorder_->evaluated(candidate, *compiled, evaluation);
    }
    if (!record) return tl::unexpected(record.error());
    if (record->measurement) ++report_.measured;
    if (!evaluation.fatal.empty()) return make_error(ErrorKind::failed, evaluation.fatal);
    failures_.count(record->outcome);
    search_.report(candidate.choice, evaluation.time_us);
    if (std::isfinite(evaluation.time_us)) {
      finalists_.add(
          {evaluation.time_us, candidate, std::make_shared<const jit::CompiledKernel>(*compiled)});
    }
    return {};
  }

  // A kernel that spills is not run.
  Expected<Evaluation> judge(const Candidate& candidate, const jit::CompiledKernel& kernel) {
    const int spilled = jit::spill_bytes(kernel.entries);
    if (spilled == 0) return services_.evaluator->evaluate(candidate, kernel);
    Evaluation evaluation;
    evaluation.outcome = store::Outcome::spilled;
    evaluation.reason = fmt::format("{} bytes spilled", spilled);
    return evaluation;
  }

  Expected<void> finals() {
    const Spent spent(report_.spent.finals);
    progress(Progress::Phase::finals);
    auto compared = FinalRound(services_, finalists_, *recorder_, report_, failures_).run();
    if (!compared) return tl::unexpected(compared.error());
    if (!*compared && !report_.interrupted)
      return tl::unexpected(
          under_way_.killed_error().value_or(Error{ErrorKind::failed, failures_.text()}));
    note_spread();
    report_.failures = failures_.counts();
    return {};
  }

  void note_spread() {
    if (!predicted() || !calibration_ || report_.ranking.empty()) return;
    if (calibration_->knows(report_.ranking.front().key.strategy))
      report_.predicted_spread = calibration_->held_out_spread();
  }

  void progress(Progress::Phase phase) const {
    if (!services_.on_progress) return;
    Progress progress;
    progress.phase = phase;
    progress.predicted = predicted();
    progress.ends =
        phase == Progress::Phase::finals || chooser_.ends_early() || nothing_to_hand_out();
    progress.done = known();
    // Of fewer candidates than are known already, none is left.
    progress.total = std::max(request_.max_candidates, progress.done);
    if (const Finalists::Scored* fastest = finalists_.fastest()) {
      progress.best_us = fastest->time_us;
      progress.best = fastest->candidate.key.strategy + " " + fastest->candidate.key.config;
    }
    if (report_.vendor.best) progress.vendor_best_us = report_.vendor.best->measurement->median_us;
    services_.on_progress(progress);
  }

  Clock::time_point start_ = Clock::now();  // first: ranking the spaces is part of the time
  double begun_seconds_ = 0;                // that begin() took
  const TuneRequest request_;
  SessionServices services_;
  Problem problem_;
  std::string compiler_version_;
  Search search_;
  std::optional<Recorder> recorder_;  // once there is a run to record for
  int round_ = 0;                     // ends with so many candidates of the job
  Finalists finalists_;
  Failures failures_;
  TuneReport report_;
  const store::Job job_;
  PriorKnowledge prior_;
  const SharedCalibration calibration_;
  Chooser chooser_;
  KnownCandidates known_;
  SharedWork work_;
  CandidatesUnderWay under_way_;
};

size_t count_points(const TuneRequest& request, const DeviceSpec& limits, size_t most) {
  const Search search(searched_spaces(request, canonical(request.problem), limits, nullptr),
                      request.seed, request.threads);
  return search.count_points(most);
}

Device subject_of(const SessionServices& services) {
  return services.device ? *services.device : modelled_device(services.limits);
}

Tuning::Tuning(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Tuning::Tuning(Tuning&&) noexcept = default;
Tuning& Tuning::operator=(Tuning&&) noexcept = default;
Tuning::~Tuning() = default;

Expected<Tuning> Tuning::begin(const TuneRequest& request, const SessionServices& services) {
  if (auto valid = validate(request.problem); !valid) return tl::unexpected(valid.error());
  if (auto served = services.compiler->check_arch(services.limits.arch); !served) {
    return tl::unexpected(served.error());
  }
  auto calibration = known_calibration(*services.store, services.limits.arch);
  if (!calibration) return tl::unexpected(calibration.error());
  auto session = std::make_unique<Session>(request, services, *calibration);
  if (auto begun = session->begin(); !begun) return tl::unexpected(begun.error());
  return Tuning(std::move(session));
}

Expected<TuneReport> Tuning::run(Evaluator& evaluator, ProgressFunction on_progress) && {
  return session_->run(evaluator, std::move(on_progress));
}

Expected<TuneReport> tune(const TuneRequest& request, const SessionServices& services) {
  auto tuning = Tuning::begin(request, services);
  if (!tuning) return tl::unexpected(tuning.error());
  return std::move(*tuning).run(*services.evaluator, services.on_progress);
}

}  // namespace gemmtune::tuner
