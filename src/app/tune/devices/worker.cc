#include "app/tune/devices/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "app/common/equipment.h"
#include "app/common/records.h"
#include "app/tune/begun_ahead.h"
#include "app/tune/devices/line_channel.h"
#include "app/tune/plan.h"
#include "app/tune/search.h"
#include "app/tune/spaces.h"
#include "gpu/context.h"

namespace gemmtune::app {
namespace {

using MessageKind = WorkerMessage::Kind;

// Whether `parent` still runs; from then on this process is killed with it.
bool end_with(int64_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;
}

// What all problems share.
struct Workbench {
  Target target;
  std::vector<codegen::SearchSpace> spaces;
  SearchOptions options;
  tuner::Equipment equipment;
  std::unique_ptr<store::RecordStore> store;
};

// A problem that was ordered, and its search, which has begun.
struct BegunOrder {
  PlannedProblem planned;
  Expected<tuner::Tuning> tuning;
};

Expected<Workbench> make_workbench(const Context& context, const WorkerSetup& setup) {
  auto spaces = choose_spaces(setup.strategies, setup.space_files);
  if (!spaces) return tl::unexpected(spaces.error());
  const Machine machine = find_machine(context);
  TargetOptions options;
  options.arch = setup.arch;
  options.device = setup.device;
  auto target = choose_target(options, machine);
  if (!target) return tl::unexpected(target.error());
  auto equipment = load_equipment(context, machine, *target);
  if (!equipment) return tl::unexpected(equipment.error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  return Workbench{*std::move(target), *std::move(spaces), setup.search, *std::move(equipment),
                   *std::move(store)};
}

Expected<tuner::Tuning> begin_tuning(const PlannedProblem& planned, Workbench& bench,
                                     const std::atomic<bool>& stop) {
  if (!planned.skipped.empty()) return make_error(ErrorKind::unsupported, planned.skipped);
  return begin_search(planned.request, bench.equipment, *bench.store, stop);
}

// Waits for the next order and begins with it. Nothing once no more will come.
std::optional<BegunOrder> begin_next(Workbench& bench, const std::atomic<bool>& stop,
                                     LineChannel& channel) {
  const auto line = channel.wait_for_line();
  if (!line) return std::nullopt;
  const auto order = parse_order(*line);
  if (!order) return std::nullopt;
  auto problem = parse_key(order->problem);
  if (!problem) return BegunOrder{{}, tl::unexpected(problem.error())};
  WantedProblem wanted;
  wanted.problem = *problem;
  wanted.text = order->problem;
  SearchOptions options = bench.options;
  if (order->again) options.fresh = false;
  PlannedProblem planned = plan_problem(wanted, bench.spaces, bench.target, options);
  auto tuning = begin_tuning(planned, bench, stop);
  return BegunOrder{std::move(planned), std::move(tuning)};
}

// `on_end` is called when nothing more is handed to the compilers; then, too, each time that a
// candidate is measured.
Expected<tuner::TuneReport> tune_one(BegunOrder& begun, const tuner::Equipment& equipment,
                                     const LineChannel& channel,
                                     const std::function<void()>& on_end) {
  if (!begun.tuning) return tl::unexpected(begun.tuning.error());
  auto evaluator = tuner::make_evaluator(begun.planned.request, equipment);
  if (!evaluator) return tl::unexpected(evaluator.error());
  return std::move(*begun.tuning).run(**evaluator, [&](const tuner::Progress& progress) {
    WorkerMessage message;
    message.kind = MessageKind::progress;
    message.progress = progress;
    channel.send(to_line(message));
    if (progress.ends) on_end();
  });
}

// Whether the driver refuses all work of this process, as it does after some crashes.
bool is_lost(const tuner::Equipment& equipment) {
  const auto context = gpu::Context::retain(equipment.driver, equipment.device->ordinal);
  return !context || !(*context)->memory();
}

WorkerMessage failure(Error error, bool device_lost) {
  WorkerMessage message;
  message.kind = MessageKind::failure;
  message.error = std::move(error);
  message.device_lost = device_lost;
  return message;
}

WorkerMessage answer(BegunOrder& begun, const tuner::Equipment& equipment,
                     const LineChannel& channel, const std::function<void()>& on_end) {
  auto report = tune_one(begun, equipment, channel, on_end);
  if (!report) {
    const bool may_be_lost = report.error().kind == ErrorKind::failed;
    return failure(report.error(), may_be_lost && is_lost(equipment));
  }
  WorkerMessage message;
  message.kind = MessageKind::report;
  message.report = stored_report(*report);
  return message;
}

// Tunes what is ordered. While a problem's last candidates are measured, and the best of them
// compared, the next one begins in a thread of its own, which alone reads from the channel then.
void serve_orders(Workbench& bench, const std::atomic<bool>& stop, LineChannel& channel) {
  BegunAhead<std::optional<BegunOrder>> orders([&] { return begin_next(bench, stop, channel); });
  while (!stop) {
    std::optional<BegunOrder> begun = orders.next();
    if (!begun) return;
    const WorkerMessage said =
        answer(*begun, bench.equipment, channel, [&] { orders.begin_ahead(); });
    begun.reset();
    if (!channel.send(to_line(said)) || said.device_lost) return;
  }
}

}  // namespace

void serve_tuning(const std::function<Context(const WorkerSetup&)>& make_context,
                  const std::atomic<bool>& stop) {
  LineChannel channel{Descriptor(STDIN_FILENO)};
  const auto line = channel.wait_for_line();
  if (!line) return;
  const auto setup = parse_setup(*line);
  if (!setup || !end_with(setup->parent)) return;
  const Context context = make_context(*setup);
  auto bench = make_workbench(context, *setup);
  if (!bench) {
    channel.send(to_line(failure(bench.error(), true)));
    return;
  }
  channel.send(to_line(WorkerMessage{}));
  serve_orders(*bench, stop, channel);
}

}  // namespace gemmtune::app
