#include "app/tune/devices/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>

#include "app/common/equipment.h"
#include "app/common/records.h"
#include "app/tune/devices/line_channel.h"
#include "app/tune/plan.h"
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

Expected<tuner::TuneReport> tune_one(const WorkerOrder& order, Workbench& bench,
                                     const std::atomic<bool>& stop, const LineChannel& channel) {
  auto problem = parse_key(order.problem);
  if (!problem) return tl::unexpected(problem.error());
  WantedProblem wanted;
  wanted.problem = *problem;
  wanted.text = order.problem;
  SearchOptions options = bench.options;
  if (order.again) options.fresh = false;
  const PlannedProblem planned = plan_problem(wanted, bench.spaces, bench.target, options);
  if (!planned.skipped.empty()) return make_error(ErrorKind::unsupported, planned.skipped);
  auto evaluator = tuner::make_evaluator(planned.request, bench.equipment);
  if (!evaluator) return tl::unexpected(evaluator.error());
  return search(planned.request, bench.equipment, **evaluator, *bench.store, stop,
                [&channel](const tuner::Progress& progress) {
                  WorkerMessage message;
                  message.kind = MessageKind::progress;
                  message.progress = progress;
                  channel.send(to_line(message));
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

WorkerMessage answer(const WorkerOrder& order, Workbench& bench, const std::atomic<bool>& stop,
                     const LineChannel& channel) {
  auto report = tune_one(order, bench, stop, channel);
  if (!report) {
    const bool may_be_lost = report.error().kind == ErrorKind::failed;
    return failure(report.error(), may_be_lost && is_lost(bench.equipment));
  }
  WorkerMessage message;
  message.kind = MessageKind::report;
  message.report = stored_report(*report);
  return message;
}

}  // namespace

void serve_tuning(const std::function<Context(const WorkerSetup&)>& make_context,
                  const std::atomic<bool>& stop) {
  LineChannel channel(STDIN_FILENO);
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
  while (const auto problem = channel.wait_for_line()) {
    const auto order = parse_order(*problem);
    if (!order) return;
    const WorkerMessage said = answer(*order, *bench, stop, channel);
    if (!channel.send(to_line(said)) || said.device_lost) return;
  }
}

}  // namespace gemmtune::app
