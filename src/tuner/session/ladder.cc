#include "tuner/session/ladder.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "core/seconds_since.h"
#include "jit/compile_again.h"
#include "tuner/session/recorder.h"

namespace gemmtune::tuner {
namespace {

using Clock = std::chrono::steady_clock;

class Ladder {
 public:
  Ladder(const TuneRequest& request, const LadderServices& services)
      : request_(request),
        services_(services),
        compiler_version_(to_string(services.session.compiler->version())) {
    report_.job = {canonical(request.problem), services.session.limits.arch,
                   subject_of(services.session).uuid, request.warm};
  }

  Expected<LadderReport> run() {
    const auto start = Clock::now();
    for (const codegen::SearchSpace& space : request_.spaces) {
      if (stopped()) break;
      auto rung = make_rung(space);
      if (!rung) return tl::unexpected(rung.error());
      report_.rungs.push_back(std::move(*rung));
    }
    report_.interrupted = stopped();
    if (auto found = check_found(); !found) return tl::unexpected(found.error());
    if (services_.session.device) {
      if (auto done = compare_rungs(); !done) return tl::unexpected(done.error());
    }
    for (Rung& rung : report_.rungs) {
      const auto spec = rung.best ? kernel_of(*rung.best) : std::nullopt;
      if (spec) rung.loads = spec->strategy->loads(*spec);
    }
    report_.seconds = seconds_since(start);
    return std::move(report_);
  }

 private:
  bool stopped() const {
    return services_.session.stop != nullptr && services_.session.stop->load();
  }

  Expected<Rung> make_rung(const codegen::SearchSpace& space) {
    Rung rung;
    rung.strategy = space.strategy;
    if (!request_.fresh) {
      if (auto found = look_up(rung); !found) return tl::unexpected(found.error());
      if (rung.best) return rung;
    }
    if (auto done = search(space, rung); !done) return tl::unexpected(done.error());
    return rung;
  }

  // Takes the best of earlier runs, if as many candidates as are asked for were tried.
  Expected<void> look_up(Rung& rung) {
    store::Filter filter;
    filter.arch = report_.job.arch;
    filter.device_uuid = report_.job.device_uuid;
    filter.warm = request_.warm;
    filter.strategy = rung.strategy->name();
    auto records = services_.session.store->candidates(report_.job.problem, filter);
    if (!records) return tl::unexpected(records.error());
    const store::Record* best = nullptr;
    int tried = 0;
    for (const store::Record& record : *records) {
      if (record.stale || record.outcome == store::Outcome::vendor) continue;
      ++tried;
      const auto spec = kernel_of(record);
      const bool current = spec && make_candidate(*spec, compiler_version_).key == record.key;
      if (best == nullptr && record.outcome == store::Outcome::ok && current) best = &record;
    }
    if (best == nullptr || tried < request_.max_candidates) return {};
    rung.best = *best;
    rung.tried = tried;
    return {};
  }

  Expected<void> search(const codegen::SearchSpace& space, Rung& rung) {
    auto evaluator = services_.make_evaluator(false);
    if (!evaluator) return tl::unexpected(evaluator.error());
    TuneRequest request = request_;
    request.spaces = {space};
    SessionServices session = services_.session;
    session.evaluator = evaluator->get();
    session.keep_best = true;
    session.on_progress = progress_of(space.strategy->name());
    auto tuned = tune(request, session);
    if (!tuned && tuned.error().kind == ErrorKind::io) return tl::unexpected(tuned.error());
    if (!tuned) {
      rung.note = tuned.error().message;
      return {};
    }
    rung.tried = tuned->resumed + tuned->evaluated;
    if (tuned->ranking.empty()) {
      rung.note = tuned->interrupted ? "interrupted" : "no candidate worked";
    } else {
      rung.best = tuned->ranking.front();
      if (tuned->best) code_.insert_or_assign(rung.strategy, std::move(*tuned->best));
    }
    return {};
  }

  std::function<void(const Progress&)> progress_of(std::string_view name) const {
    return services_.on_rung ? services_.on_rung(name) : nullptr;
  }

  Expected<void> check_found() const {
    const bool any = std::any_of(report_.rungs.begin(), report_.rungs.end(),
                                 [](const Rung& rung) { return rung.best.has_value(); });
    if (any) return {};
    if (report_.interrupted)
      return make_error(ErrorKind::failed, "interrupted before anything was found");
    return make_error(ErrorKind::failed,
                      report_.rungs.empty() ? "no strategy to try" : report_.rungs.front().note);
  }

  // Measures the best of all rungs and the vendor in the same rounds, and takes those times.
  Expected<void> compare_rungs() {
    std::vector<Finalist> finalists;
    std::vector<Rung*> rungs;  // parallel
    for (Rung& rung : report_.rungs) {
      const auto spec = rung.best ? kernel_of(*rung.best) : std::nullopt;
      if (!spec) continue;
      auto finalist = with_code(rung, *spec);
      if (!finalist) return tl::unexpected(finalist.error());
      finalist->stays = true;
      finalists.push_back(std::move(*finalist));
      rungs.push_back(&rung);
    }
    if (const auto progress = progress_of("all rungs"))
      progress({Progress::Phase::finals, 0, static_cast<int>(finalists.size()), 0, 0, ""});
    auto evaluator = services_.make_evaluator(true);
    if (!evaluator) return tl::unexpected(evaluator.error());
    auto run = services_.session.store->begin_run(services_.session.run);
    if (!run) return tl::unexpected(run.error());
    Recorder recorder(*services_.session.store, report_.job, *run);
    auto vendor = (*evaluator)->measure_vendor();
    if (!vendor) return tl::unexpected(vendor.error());
    if (auto done = recorder.vendors(*vendor, report_.vendor); !done) return done;
    auto results = (*evaluator)->finish(finalists);
    if (!results) return tl::unexpected(results.error());
    for (size_t i = 0; i < finalists.size(); ++i) {
      if (!results->finalists[i]) continue;
      auto record =
          recorder.evaluated(finalists[i].candidate, finalists[i].kernel, *results->finalists[i]);
      if (!record) return tl::unexpected(record.error());
      take(std::move(*record), *rungs[i]);
    }
    return recorder.vendors(results->vendor, report_.vendor);
  }

  // With the code that the rung's search timed; what earlier runs found is compiled here.
  Expected<Finalist> with_code(const Rung& rung, const codegen::KernelSpec& spec) {
    const auto searched = code_.find(rung.strategy);
    if (searched != code_.end()) return std::move(searched->second);
    Candidate candidate = make_candidate(spec, compiler_version_);
    auto compiled = jit::compile_again(*services_.session.compiler,
                                       {candidate.source, candidate.spec.arch, {}});
    if (!compiled) return tl::unexpected(compiled.error());
    if (!*compiled) return make_error(ErrorKind::failed, compiled->error().first_error);
    return Finalist{std::move(candidate), **std::move(compiled)};
  }

  static void take(store::Record record, Rung& rung) {
    if (record.outcome == store::Outcome::ok) {
      rung.best = std::move(record);
      return;
    }
    rung.best.reset();
    rung.note = std::string(store::to_string(record.outcome)) + ": " + record.reason;
  }

  const TuneRequest& request_;
  const LadderServices& services_;
  std::string compiler_version_;
  LadderReport report_;
  std::map<const codegen::Strategy*, Finalist> code_;  // of the rungs that were searched
};

}  // namespace

Expected<LadderReport> climb(const TuneRequest& request, const LadderServices& services) {
  if (auto valid = validate(request.problem); !valid) return tl::unexpected(valid.error());
  return Ladder(request, services).run();
}

}  // namespace gemmtune::tuner
