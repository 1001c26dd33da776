#include "tuner/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>

#include "jit/compile_pool.h"
#include "tuner/candidate.h"
#include "tuner/candidate_features.h"
#include "tuner/finalists.h"
#include "tuner/prior_knowledge.h"
#include "tuner/ranked_space.h"
#include "tuner/recorder.h"
#include "tuner/staleness.h"

namespace gemmtune::tuner {
namespace {

constexpr double kSeedShare = 0.35;       // of the candidates: the model's; the rest is search
constexpr double kLearntSeedShare = 0.1;  // the same where similar problems were learnt from
constexpr double kMostSeedShare = 0.7;    // with suggestions
constexpr size_t kProposalBatch = 16;     // candidates asked for at a time by search
constexpr size_t kRemeasured =
    24;  // stale records of the problem itself that are tried again first
constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr auto kClaimLifetime = std::chrono::seconds(120);

using Clock = std::chrono::steady_clock;

std::string random_owner() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// One tuning run: the loop between search, compile pool, evaluator and store.
class Session {
 public:
  Session(const TuneRequest& request, const SessionServices& services)
      : request_(request),
        services_(services),
        problem_(canonical(request.problem)),
        compiler_version_(to_string(services.compiler->nvrtc().version())),
        owner_(random_owner()),
        search_(make_spaces(), request.seed, ideal_us(problem_, services.limits), request.threads),
        job_{problem_, request.arch, subject_of(services).uuid, request.warm},
        prior_(*services.store, job_, services.limits, search_) {
    report_.job = job_;
  }

  Expected<TuneReport> run() {
    if (auto ready = prepare(); !ready) return tl::unexpected(ready.error());
    if (auto done = vendor_baseline(); !done) return tl::unexpected(done.error());
    auto searched = search_loop();
    if (auto released = services_.store->release(owner_); !released)
      return tl::unexpected(released.error());
    if (!searched) return tl::unexpected(searched.error());
    if (auto done = finals(); !done) return tl::unexpected(done.error());
    report_.seconds = elapsed();
    return std::move(report_);
  }

 private:
  std::vector<Search::Space> make_spaces() const {
    std::vector<Search::Space> spaces;
    for (const codegen::SearchSpace& space : request_.spaces)
      spaces.push_back(ranked_space(space, problem_, services_.limits));
    return spaces;
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool stopped() const { return services_.stop != nullptr && services_.stop->load(); }
  bool out_of_time() const { return request_.max_seconds > 0 && elapsed() > request_.max_seconds; }

  Expected<void> prepare() {
    report_.legal_points = search_.legal_points();
    if (report_.legal_points == 0) {
      return usage_error("no tile of the search space is legal for " + key(problem_) + " on " +
                         to_string(request_.arch));
    }
    if (auto added = services_.store->add_device(subject_of(services_)); !added) return added;
    auto run = services_.store->begin_run(services_.run);
    if (!run) return tl::unexpected(run.error());
    recorder_.emplace(*services_.store, report_.job, *run);
    const Toolchain now{compiler_version_, services_.run.driver_version};
    if (auto judged = judge_records(*services_.store, now); !judged)
      return tl::unexpected(judged.error());
    if (!request_.fresh) {
      if (auto done = resume(); !done) return done;
    }
    if (!request_.fresh && services_.device) {
      if (auto done = prior_.learn(); !done) return done;
    }
    return prior_.borrow();
  }

  // Takes over what earlier runs recorded of this job, and suggests the best of what is stale of
  // it.
  Expected<void> resume() {
    auto records = services_.store->candidates(problem_, prior_.own_records());
    if (!records) return tl::unexpected(records.error());
    size_t remeasured = 0;
    for (const store::Record& record : *records) {
      const auto tile = parse_tile(record.key.config);
      const auto choice = tile ? search_.find(record.key.strategy, *tile) : std::nullopt;
      if (!choice) continue;
      Candidate candidate = make_candidate(search_, *choice, problem_, compiler_version_);
      if (record.stale || candidate.key != record.key) {
        // Best first: what was good is measured again before anything else.
        if (record.outcome == store::Outcome::ok && remeasured++ < kRemeasured)
          prior_.suggest(record);
        continue;
      }
      const bool usable = record.outcome == store::Outcome::ok ||
                          record.outcome == store::Outcome::not_run ||
                          record.outcome == store::Outcome::eliminated_early;
      double time_us = INFINITY;
      if (usable && record.measurement) time_us = record.measurement->median_us;
      if (usable && !record.measurement) time_us = record.predicted_us.value_or(INFINITY);
      search_.report(*choice, time_us);
      ++report_.resumed;
      // They come best first.
      const bool defends = record.outcome == store::Outcome::ok && !finalists_.has_defender();
      if (defends) {
        finalists_.add_defender(time_us, std::move(candidate));
      } else {
        finalists_.add(time_us, std::move(candidate));
      }
    }
    return {};
  }

  Expected<void> vendor_baseline() {
    progress(Progress::Phase::vendor);
    auto results = services_.evaluator->measure_vendor();
    if (!results) return tl::unexpected(results.error());
    return record_vendor(*results);
  }

  Expected<void> record_vendor(const std::vector<VendorResult>& results) {
    auto records = recorder_->vendors(results);
    if (!records) return tl::unexpected(records.error());
    report_.vendor_first = std::move(records->first);
    report_.vendor_best = std::move(records->best);
    return {};
  }

  // Suggestions, and as many of the model's favourites as there is reason to trust it.
  size_t first_seeds(int budget) const {
    const double share = prior_.enough() ? kLearntSeedShare : kSeedShare;
    const double wanted = share * budget + static_cast<double>(search_.suggested());
    return static_cast<size_t>(std::max(0.0, std::min(wanted, kMostSeedShare * budget)));
  }

  Expected<void> search_loop() {
    jit::CompilePool pool(services_.compiler, request_.threads);
    const int budget = request_.max_candidates - report_.resumed;
    if (auto done = submit(search_.seeds(first_seeds(budget)), pool); !done) return done;
    while (true) {
      if (stopped() || out_of_time()) {
        report_.interrupted = report_.interrupted || stopped();
        pool.cancel();
        return {};
      }
      const int left = budget - static_cast<int>(candidates_.size());
      if (left > 0 && pool.pending() <= static_cast<size_t>(request_.threads)) {
        const size_t wanted = std::min<size_t>(kProposalBatch, static_cast<size_t>(left));
        auto more = search_.proposals(wanted);
        if (more.empty()) more = search_.seeds(wanted);
        if (auto done = submit(more, pool); !done) return done;
      }
      if (pool.pending() == 0) return {};
      const auto outcome = pool.next_for(kPoll);
      if (!outcome) continue;
      if (auto done = evaluate(candidates_[outcome->index], outcome->result); !done) return done;
      progress(Progress::Phase::search);
    }
  }

  // Claims the choices, so that another process tuning the same job does not try them too, and
  // hands what was granted to the compilers.
  Expected<void> submit(const std::vector<Choice>& choices, jit::CompilePool& pool) {
    std::vector<Candidate> made;
    std::vector<store::CandidateKey> keys;
    for (const Choice& choice : choices) {
      made.push_back(make_candidate(search_, choice, problem_, compiler_version_));
      keys.push_back(made.back().key);
    }
    if (keys.empty()) return {};
    auto granted = services_.store->claim(report_.job, keys,
                                          {owner_, kClaimLifetime, keys.size(), request_.fresh});
    if (!granted) return tl::unexpected(granted.error());
    for (const size_t index : *granted) {
      candidates_.push_back(std::move(made[index]));
      pool.submit(candidates_.size() - 1, {candidates_.back().source, request_.arch, {}});
    }
    return {};
  }

  Expected<void> evaluate(const Candidate& candidate, const jit::CompileResult& compiled) {
    ++report_.evaluated;
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
    count(record->outcome);
    search_.report(candidate.choice, evaluation.time_us);
    finalists_.add(evaluation.time_us, candidate);
    return {};
  }

  // A kernel that spills is not run.
  Expected<Evaluation> judge(const Candidate& candidate, const jit::CompiledKernel& kernel) {
    const int spilled = spill_bytes(kernel);
    if (spilled == 0) return services_.evaluator->evaluate(candidate, kernel);
    Evaluation evaluation;
    evaluation.outcome = store::Outcome::spilled;
    evaluation.reason = fmt::format("{} bytes spilled", spilled);
    return evaluation;
  }

  void count(store::Outcome outcome) {
    if (outcome == store::Outcome::ok || outcome == store::Outcome::not_run) return;
    ++failures_[std::string(store::to_string(outcome))];
  }

  // Measures the best once more, side by side with the vendor, and records that.
  Expected<void> finals() {
    progress(Progress::Phase::finals);
    std::vector<Finalist> finalists;
    for (Candidate& candidate : finalists_.chosen()) {
      auto compiled = services_.compiler->compile({candidate.source, request_.arch, {}});
      if (compiled) finalists.push_back({std::move(candidate), std::move(*compiled)});
    }
    if (finalists.empty()) return no_result();
    auto results = services_.evaluator->finish(finalists);
    if (!results) return tl::unexpected(results.error());
    for (size_t i = 0; i < finalists.size(); ++i) {
      auto record =
          recorder_->evaluated(finalists[i].candidate, finalists[i].kernel, results->finalists[i]);
      if (!record) return tl::unexpected(record.error());
      if (record->outcome == store::Outcome::ok) report_.ranking.push_back(std::move(*record));
    }
    if (auto done = record_vendor(results->vendor); !done) return done;
    std::stable_sort(
        report_.ranking.begin(), report_.ranking.end(),
        [](const store::Record& a, const store::Record& b) { return time_of(a) < time_of(b); });
    report_.failures.assign(failures_.begin(), failures_.end());
    return {};
  }

  static double time_of(const store::Record& record) {
    return record.measurement ? record.measurement->median_us
                              : record.predicted_us.value_or(INFINITY);
  }

  Expected<void> no_result() {
    report_.failures.assign(failures_.begin(), failures_.end());
    if (report_.interrupted) return {};
    std::string text = "no candidate worked";
    for (const auto& [outcome, count] : failures_) text += fmt::format(", {} {}", count, outcome);
    return make_error(ErrorKind::failed, text);
  }

  void progress(Progress::Phase phase) const {
    if (!services_.on_progress) return;
    Progress progress;
    progress.phase = phase;
    progress.done = report_.resumed + report_.evaluated;
    progress.total = request_.max_candidates;
    if (const Finalists::Scored* fastest = finalists_.fastest()) {
      progress.best_us = fastest->time_us;
      progress.best = fastest->candidate.key.strategy + " " + fastest->candidate.key.config;
    }
    if (report_.vendor_best) progress.vendor_best_us = report_.vendor_best->measurement->median_us;
    services_.on_progress(progress);
  }

  const TuneRequest& request_;
  const SessionServices& services_;
  Problem problem_;
  std::string compiler_version_;
  std::string owner_;
  Search search_;
  Clock::time_point start_ = Clock::now();
  std::optional<Recorder> recorder_;   // once there is a run to record for
  std::vector<Candidate> candidates_;  // handed to the compilers, by index
  Finalists finalists_;
  std::map<std::string, int> failures_;
  TuneReport report_;
  const store::Job job_;
  PriorKnowledge prior_;
};

}  // namespace

Device subject_of(const SessionServices& services) {
  return services.device ? *services.device : modelled_device(services.limits);
}

Expected<TuneReport> tune(const TuneRequest& request, const SessionServices& services) {
  if (auto valid = validate(request.problem); !valid) return tl::unexpected(valid.error());
  if (auto served = services.compiler->nvrtc().check_arch(request.arch); !served) {
    return tl::unexpected(served.error());
  }
  return Session(request, services).run();
}

}  // namespace gemmtune::tuner
