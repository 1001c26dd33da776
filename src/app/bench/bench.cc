#include "app/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <utility>

#include "app/bench/bench_choice.h"
#include "app/common/equipment.h"
#include "app/common/records.h"
#include "app/query/explain.h"
#include "app/tune/search.h"
#include "app/tune/spaces.h"
#include "dispatch/request.h"
#include "dispatch/snapshot_source.h"

namespace gemmtune::app {
namespace {

// Times of what was picked: a kernel's stand in the order of the plan, which is that of the picks.
std::optional<BenchContender> contender(const std::optional<BenchPick>& pick,
                                        const tuner::BenchTimes& times, size_t& kernel,
                                        std::string& note) {
  if (!pick) return std::nullopt;
  BenchContender result{pick->label, pick->provenance, pick->reason, pick->borrowed_from, {}};
  if (!pick->kernel) {
    result.time = times.vendor_asked;
    return result;
  }
  const tuner::BenchedKernel& benched = times.kernels[kernel++];
  result.time = benched.time;
  if (!benched.why_not.empty()) add_note(note, fmt::format("{}: {}", pick->label, benched.why_not));
  return result;
}

tuner::BenchPlan plan_of(const BenchChoice& choice) {
  tuner::BenchPlan plan;
  for (const auto* pick : {&choice.dispatched, &choice.own}) {
    if (*pick && (*pick)->kernel) plan.kernels.push_back(*(*pick)->kernel);
    if (*pick && (*pick)->vendor_rank) plan.vendor_rank = (*pick)->vendor_rank;
  }
  return plan;
}

// Everything that is found out before anything is measured.
struct PreparedBench {
  Target target;
  tuner::Equipment equipment;
  std::vector<WantedProblem> wanted;
  std::vector<codegen::SearchSpace> spaces;  // of --tune-missing
};

Expected<void> check_options(const BenchOptions& options) {
  if (!options.tune_missing && options.search != BenchSearchOptions{})
    return usage_error("--candidates, --tune-seconds and --jobs belong to --tune-missing");
  return {};
}

// Integers take whole scalars only.
Expected<void> check_beta(float beta, std::span<const WantedProblem> wanted) {
  const bool has_integers = std::any_of(wanted.begin(), wanted.end(), [](const WantedProblem& one) {
    return one.problem.accumulator == DataType::i32;
  });
  if (!has_integers || beta == std::trunc(beta)) return {};
  return usage_error(fmt::format("--beta {}: products of integers take whole numbers only", beta));
}

Expected<PreparedBench> prepare(const Context& context, const BenchOptions& options) {
  if (auto checked = check_options(options); !checked) return tl::unexpected(checked.error());
  auto wanted = parse_problems(options.problems);
  if (!wanted) return tl::unexpected(wanted.error());
  if (auto checked = check_beta(options.beta, *wanted); !checked)
    return tl::unexpected(checked.error());
  PreparedBench prepared;
  prepared.wanted = std::move(*wanted);
  const Machine machine = find_machine(context);
  if (machine.devices.empty())
    return make_error(ErrorKind::unsupported, "bench needs a GPU: " + machine.why_no_driver);
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  if (!target->device) {
    return make_error(ErrorKind::unsupported,
                      "bench needs a GPU: none here runs " + to_string(target->arch));
  }
  prepared.target = std::move(*target);
  auto equipment = load_equipment(context, machine, prepared.target, options.tune_missing);
  if (!equipment) return tl::unexpected(equipment.error());
  prepared.equipment = std::move(*equipment);
  if (!options.tune_missing) return prepared;
  auto spaces = choose_spaces({}, {});
  if (!spaces) return tl::unexpected(spaces.error());
  prepared.spaces = std::move(*spaces);
  return prepared;
}

// One run of the command, problem after problem.
class Bench {
 public:
  Bench(const PreparedBench& prepared, const BenchOptions& options, store::RecordStore& store,
        const std::atomic<bool>& stop, const BenchEvents& events)
      : prepared_(prepared), options_(options), store_(store), stop_(stop), events_(events) {
    services_.make_evaluator = [this](const Problem& problem) { return device(problem); };
    services_.make_kernel = kernel_maker(prepared.equipment.compiler);
  }

  Expected<void> read_results() {
    auto snapshot = dispatch::read_store(store_, *prepared_.target.device);
    if (!snapshot) return tl::unexpected(snapshot.error());
    snapshot_ = std::move(*snapshot);
    return {};
  }

  // Whether what prepare() compiles is found by row(): in the cache, if results stay what they are.
  bool can_prepare() const {
    return prepared_.equipment.compiler->cache() != nullptr && !options_.tune_missing;
  }

  // Compiles what row() will want, if cuBLASLt has no say in it.
  void prepare(const WantedProblem& wanted) const {
    choose_for_bench(decide(wanted), dispatch::comparable(wanted.problem), {},
                     services_.make_kernel);
  }

  // Nothing where the command was interrupted.
  Expected<std::optional<BenchRow>> row(const WantedProblem& wanted) {
    std::string why_not_tuned;
    if (options_.tune_missing && wanted.unsupported.empty()) {
      auto tuned = tune_if_missing(wanted);
      // One problem that cannot be tuned may still be compared; a broken store is the end.
      if (!tuned && tuned.error().kind == ErrorKind::io) return tl::unexpected(tuned.error());
      if (!tuned) why_not_tuned = "it could not be tuned: " + tuned.error().message;
    }
    if (stop_.load()) return std::optional<BenchRow>();
    auto row = bench_problem(wanted, decide(wanted), services_);
    if (!row) return tl::unexpected(row.error());
    add_note(row->note, why_not_tuned);
    return std::optional(std::move(*row));
  }

 private:
  using Progressing = tuner::ProgressFunction;

  dispatch::Decision decide(const WantedProblem& wanted) const {
    if (!wanted.unsupported.empty()) return {};
    dispatch::Request request;
    request.problem = dispatch::comparable(wanted.problem);
    request.reads_c = options_.beta != 0;
    return dispatch::decide(snapshot_, request, library_target(*prepared_.target.device));
  }

  Expected<void> tune_if_missing(const WantedProblem& wanted) {
    if (tuned_here(decide(wanted), dispatch::comparable(wanted.problem))) return {};
    auto supported = supported_spaces(wanted.problem, prepared_.spaces, prepared_.target);
    if (!supported) return tl::unexpected(supported.error());
    SearchOptions options;
    options.candidates = options_.search.candidates;
    options.seconds = options_.search.seconds;
    options.jobs = options_.search.jobs;
    options.warm = false;  // as the library's results are, however they are compared here
    const auto request = make_request(options, kTuneCandidates, wanted.problem,
                                      std::move(supported->spaces), prepared_.target);
    auto evaluator = tuner::make_evaluator(request, prepared_.equipment);
    if (!evaluator) return tl::unexpected(evaluator.error());
    auto report = search(request, prepared_.equipment, **evaluator, store_, stop_,
                         events_.on_search ? events_.on_search(wanted) : Progressing());
    if (!report) return tl::unexpected(report.error());
    return read_results();
  }

  Expected<std::unique_ptr<tuner::Evaluator>> device(const Problem& problem) const {
    SearchOptions options;
    options.warm = options_.warm;
    tuner::EvaluatorOptions evaluation;
    evaluation.final_round = {options_.seconds, options_.sustained};
    evaluation.beta = options_.beta;
    evaluation.vendor_workspace_bytes = options_.vendor_workspace_bytes;
    return tuner::make_evaluator(
        make_request(options, kTuneCandidates, problem, {}, prepared_.target), prepared_.equipment,
        evaluation);
  }

  const PreparedBench& prepared_;
  const BenchOptions& options_;
  store::RecordStore& store_;
  const std::atomic<bool>& stop_;
  const BenchEvents& events_;
  BenchServices services_;
  dispatch::Snapshot snapshot_;
};

}  // namespace

Expected<BenchRow> bench_problem(const WantedProblem& wanted, const dispatch::Decision& decision,
                                 const BenchServices& services) {
  BenchRow row;
  row.wanted = wanted;
  if (row.wanted.group.empty()) row.wanted.group = "command line";
  row.note = wanted.unsupported;
  if (!row.note.empty()) return row;
  auto evaluator = services.make_evaluator(wanted.problem);
  if (!evaluator) {
    if (evaluator.error().kind != ErrorKind::usage) return tl::unexpected(evaluator.error());
    row.note = evaluator.error().message;
    return row;
  }
  auto vendor = (*evaluator)->measure_vendor();
  if (!vendor) return tl::unexpected(vendor.error());
  const BenchChoice choice = choose_for_bench(decision, dispatch::comparable(wanted.problem),
                                              *vendor, services.make_kernel);
  row.note = choice.note;
  if (vendor->empty()) add_note(row.note, "cuBLASLt has nothing for it");
  if (!choice.dispatched) {
    add_note(row.note, "nothing that is known computes it here");
    return row;
  }
  auto times = tuner::bench(**evaluator, plan_of(choice));
  if (!times) return tl::unexpected(times.error());
  size_t kernel = 0;
  row.dispatched = contender(choice.dispatched, *times, kernel, row.note);
  row.own =
      choice.dispatched->kernel ? row.dispatched : contender(choice.own, *times, kernel, row.note);
  row.vendor_first = std::move(times->vendor_first);
  row.vendor_best = std::move(times->vendor_best);
  return row;
}

void measure_rows(std::span<const WantedProblem> wanted, const RowSteps& steps,
                  const std::atomic<bool>& stop, const BenchEvents& events, BenchReport& report) {
  std::future<void> prepared;  // of the problem behind the one that is measured
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (stop.load()) break;
    if (prepared.valid()) prepared.get();
    if (steps.prepare && i + 1 < wanted.size())
      prepared = std::async(std::launch::async, steps.prepare, std::cref(wanted[i + 1]));
    auto row = steps.measure(wanted[i]);
    if (!row) report.failure = wanted[i].text + ": " + row.error().message;
    if (!row || !*row) break;
    if (events.on_row) events.on_row(**row);
    report.rows.push_back(std::move(**row));
  }
  report.interrupted = report.failure.empty() && report.rows.size() < wanted.size();
  report.groups = bench_groups(report.rows);
}

Expected<BenchReport> bench(const Context& context, const BenchOptions& options,
                            const std::atomic<bool>& stop, const BenchEvents& events) {
  auto prepared = prepare(context, options);
  if (!prepared) return tl::unexpected(prepared.error());
  if (events.on_ready) {
    if (auto ready = events.on_ready(); !ready) return tl::unexpected(ready.error());
  }
  auto store = open_records(context, !options.tune_missing);
  if (!store) return tl::unexpected(store.error());
  Bench bench(*prepared, options, **store, stop, events);
  if (auto read = bench.read_results(); !read) return tl::unexpected(read.error());

  BenchReport report;
  report.target = prepared->target;
  report.driver_version = prepared->equipment.driver->version();
  report.warm = options.warm;
  report.beta = options.beta;
  report.vendor_workspace_bytes = options.vendor_workspace_bytes;
  RowSteps steps;
  if (bench.can_prepare())
    steps.prepare = [&bench](const WantedProblem& wanted) { bench.prepare(wanted); };
  steps.measure = [&bench](const WantedProblem& wanted) { return bench.row(wanted); };
  measure_rows(prepared->wanted, steps, stop, events, report);
  if (options.tune_missing) prune_cache(context, *prepared->equipment.compiler);
  return report;
}

Expected<void> check_compared(const BenchReport& report) {
  if (!report.failure.empty()) return make_error(ErrorKind::failed, report.failure);
  const bool any = std::any_of(report.rows.begin(), report.rows.end(),
                               [](const BenchRow& row) { return row.compared(); });
  if (any) return {};
  if (report.interrupted)
    return make_error(ErrorKind::failed, "interrupted before any problem was compared");
  const BenchRow& first = report.rows.front();
  return make_error(ErrorKind::failed,
                    fmt::format("no problem could be compared with cuBLASLt: {}: {}",
                                first.wanted.text, first.note));
}

}  // namespace gemmtune::app
