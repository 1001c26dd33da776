#include "app/tune/devices/device_tuner.h"

#include <poll.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/common/device_list.h"
#include "app/tune/devices/problem_queue.h"
#include "app/tune/devices/worker_messages.h"
#include "app/tune/devices/worker_process.h"
#include "core/seconds_since.h"

namespace gemmtune::app {
namespace {

using Clock = std::chrono::steady_clock;
using MessageKind = WorkerMessage::Kind;

constexpr int kPollMs = 100;
// A device is left out when so many of its processes ended without tuning anything: one problem
// ends two at most.
constexpr int kMostEnds = 3;

// Processes of one device compile in turns, for the most part: while the other one measures.
int jobs_of_each(const SearchOptions& search, size_t devices) {
  return std::max(1, threads_of(search) / static_cast<int>(devices));
}

// For each problem the device that has tried most of its candidates.
Expected<std::vector<std::optional<size_t>>> begun_on(const DeviceTuning& tuning) {
  const TunePlan& plan = tuning.plan;
  std::vector<std::optional<size_t>> devices(plan.problems.size());
  if (plan.search.fresh) return devices;
  for (size_t i = 0; i < plan.problems.size(); ++i) {
    if (!plan.problems[i].skipped.empty()) continue;
    size_t most = 0;
    for (size_t d = 0; d < plan.target.devices.size(); ++d) {
      const auto done = tuning.store.done({plan.problems[i].wanted.problem, plan.target.arch,
                                           plan.target.devices[d].uuid, plan.search.warm});
      if (!done) return tl::unexpected(done.error());
      if (done->size() <= most) continue;
      most = done->size();
      devices[i] = d;
    }
  }
  return devices;
}

class DeviceTuner {
 public:
  DeviceTuner(const DeviceTuning& tuning, std::vector<std::optional<size_t>> begun_on)
      : tuning_(tuning),
        plan_(tuning.plan),
        queue_(planned_order(plan_), std::move(begun_on)),
        clock_(count_planned(plan_.problems), plan_.target.devices.size()),
        numbers_(plan_.problems.size()),
        results_(plan_.problems.size()) {
    for (const Device& device : plan_.target.devices) seats_.push_back(Seat(device));
  }

  Expected<std::vector<std::optional<TunedProblem>>> run() {
    bool interrupted = false;
    while (true) {
      if (stopped() && !std::exchange(interrupted, true)) interrupt();
      for (Seat& seat : seats_) employ(seat);
      if (!wait()) break;
      for (Seat& seat : seats_) {
        if (auto heard = listen(seat); !heard) return tl::unexpected(heard.error());
      }
    }
    if (!any_ready_ && last_error_ && !stopped()) return tl::unexpected(*last_error_);
    skip_the_rest();
    return std::move(results_);
  }

 private:
  // A problem in work.
  struct Task {
    size_t problem = 0;
    Clock::time_point begun = Clock::now();
    tuner::ProgressFunction on_progress;
    std::vector<TracePoint> trace;
  };
  // A device, and the process that tunes on it.
  struct Seat {
    explicit Seat(Device which) : device(std::move(which)) {}

    Device device;
    std::optional<WorkerProcess> worker;
    bool ready = false;
    std::optional<Task> task;
    std::optional<size_t> ahead;  // the problem that it has begun beside the end of `task`
    int ends = 0;                 // of its processes, since it tuned a problem
    bool left_out = false;
  };

  bool stopped() const { return tuning_.stop.load(); }
  size_t index_of(const Seat& seat) const { return static_cast<size_t>(&seat - seats_.data()); }

  void interrupt() {
    for (const Seat& seat : seats_) {
      if (seat.worker && seat.task) seat.worker->interrupt();
    }
  }

  // Gives a device the next thing to do.
  void employ(Seat& seat) {
    if (seat.left_out || seat.task) return;
    if (!queue_.has_next(index_of(seat)) || stopped()) {
      if (seat.worker) seat.worker->finish();
      seat.worker.reset();
      seat.ready = false;
    } else if (!seat.worker) {
      if (starting() < queue_.size()) start(seat);
    } else if (seat.ready) {
      const size_t problem = *queue_.next(index_of(seat));
      hand_out(seat, problem);
      begin_task(seat, problem);
    }
  }

  // Processes that will take a problem each when they are ready.
  size_t starting() const {
    return static_cast<size_t>(std::count_if(
        seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.worker && !seat.ready; }));
  }

  void start(Seat& seat) {
    const TuneOptions& options = tuning_.options;
    auto worker = WorkerProcess::start(options.worker_program, options.worker_arguments);
    if (!worker) {
      leave_out(seat, worker.error());
      return;
    }
    seat.worker.emplace(*std::move(worker));
    // If it has ended already, listening finds out.
    seat.worker->channel().send(to_line(setup_of(seat)));
  }

  WorkerSetup setup_of(const Seat& seat) const {
    WorkerSetup setup;
    setup.parent = ::getpid();
    setup.device = seat.device.ordinal;
    setup.arch = to_string(plan_.target.arch);
    setup.places = tuning_.context.places;
    // What is missing on the machine is said by one of them.
    const auto level = tuning_.context.log->level();
    const bool says_all = (index_of(seat) == 0 && seat.ends == 0) || level <= spdlog::level::debug;
    setup.log_level = says_all ? level : std::max(level, spdlog::level::err);
    setup.strategies = tuning_.options.strategies;
    setup.space_files = tuning_.options.space_files;
    setup.search = plan_.search;
    setup.search.jobs = jobs_of_each(plan_.search, count_distinct(plan_.target.devices));
    return setup;
  }

  void hand_out(const Seat& seat, size_t problem) const {
    const bool again = numbers_[problem].has_value();
    seat.worker->channel().send(
        to_line(WorkerOrder{key(plan_.problems[problem].wanted.problem), again}));
  }

  // While its process measures the last candidates of one problem, and compares the best, it can
  // begin the next one.
  void hand_out_ahead(Seat& seat) {
    if (seat.ahead || stopped() || !queue_.has_next(index_of(seat))) return;
    seat.ahead = queue_.next(index_of(seat));
    hand_out(seat, *seat.ahead);
  }

  void begin_task(Seat& seat, size_t problem) {
    const PlannedProblem& planned = plan_.problems[problem];
    std::optional<size_t>& number = numbers_[problem];
    TunePlace place = number ? clock_.begin_again(*number) : clock_.begin();
    number = place.number;
    place.device = seat.device.ordinal;
    Task task;
    task.problem = problem;
    if (tuning_.events.on_problem)
      task.on_progress = tuning_.events.on_problem(planned.wanted, place);
    seat.task = std::move(task);
  }

  // Waits until a process says something. False if there is none.
  bool wait() const {
    std::vector<pollfd> channels;
    for (const Seat& seat : seats_) {
      if (seat.worker) channels.push_back({seat.worker->channel().descriptor(), POLLIN, 0});
    }
    if (channels.empty()) return false;
    // A signal, too, ends it.
    ::poll(channels.data(), channels.size(), kPollMs);
    return true;
  }

  Expected<void> listen(Seat& seat) {
    if (!seat.worker) return {};
    std::vector<std::string> lines;
    const bool open = seat.worker->channel().take_lines(lines);
    for (const std::string& line : lines) {
      auto message = parse_message(line);
      if (!message) {
        on_end(seat, message.error());
      } else if (auto heard = hear(seat, *message); !heard) {
        return heard;
      }
      if (!seat.worker) return {};
    }
    if (!open) on_end(seat, {ErrorKind::failed, "its process ended: " + seat.worker->wait()});
    return {};
  }

  Expected<void> hear(Seat& seat, const WorkerMessage& message) {
    switch (message.kind) {
      case MessageKind::ready:
        seat.ready = any_ready_ = true;
        return {};
      case MessageKind::progress:
        if (!seat.task) return {};
        on_progress(*seat.task, message.progress);
        if (message.progress.ends) hand_out_ahead(seat);
        return {};
      case MessageKind::report:
        return seat.task ? on_report(seat, message.report) : Expected<void>();
      case MessageKind::failure:
        return on_failure(seat, message);
    }
    return {};
  }

  static void on_progress(Task& task, const tuner::Progress& progress) {
    note(progress, task.trace);
    if (task.on_progress) task.on_progress(progress);
  }

  Expected<void> on_report(Seat& seat, const StoredReport& stored) {
    if (stored.report.interrupted && !stopped()) {
      on_end(seat, {ErrorKind::failed, "its process was asked to end"});
      return {};
    }
    auto report = with_records(stored, tuning_.store);
    if (!report) return tl::unexpected(report.error());
    TunedProblem tuned = begin_result(seat);
    report->job = {canonical(tuned.wanted.problem), plan_.target.arch, seat.device.uuid,
                   plan_.search.warm};
    tuned.report = *std::move(report);
    seat.ends = 0;
    end_task(seat, std::move(tuned));
    return {};
  }

  Expected<void> on_failure(Seat& seat, const WorkerMessage& message) {
    if (message.device_lost || !seat.task) {
      on_end(seat, message.error);
      return {};
    }
    // One problem that cannot be tuned is no reason to drop the others; a broken store is.
    if (message.error.kind == ErrorKind::io) return tl::unexpected(message.error);
    TunedProblem tuned = begin_result(seat);
    tuned.skipped = message.error.message;
    seat.ends = 0;
    end_task(seat, std::move(tuned));
    return {};
  }

  // The result of a device's problem, but for what became of it.
  TunedProblem begin_result(Seat& seat) const {
    TunedProblem tuned;
    tuned.wanted = plan_.problems[seat.task->problem].wanted;
    tuned.device = seat.device;
    tuned.trace = std::move(seat.task->trace);
    return tuned;
  }

  void end_task(Seat& seat, TunedProblem tuned) {
    clock_.end(seconds_since(seat.task->begun));
    publish(seat.task->problem, std::move(tuned));
    seat.task.reset();
    const auto ahead = std::exchange(seat.ahead, std::nullopt);
    if (ahead && seat.worker && !stopped()) begin_task(seat, *ahead);
  }

  void publish(size_t problem, TunedProblem tuned) {
    if (tuning_.events.on_result) tuning_.events.on_result(tuned);
    results_[problem] = std::move(tuned);
  }

  // A process ended, or is of no use any more.
  void on_end(Seat& seat, const Error& why) {
    seat.worker.reset();
    ++seat.ends;
    const bool was_ready = std::exchange(seat.ready, false);
    if (const auto ahead = std::exchange(seat.ahead, std::nullopt)) queue_.take_back(*ahead);
    if (seat.task && !stopped()) try_again(seat, why);
    seat.task.reset();
    if (!was_ready || seat.ends >= kMostEnds) {
      leave_out(seat, why);
    } else if (!stopped()) {
      tuning_.context.log->warn("device {}: another process takes over: {}", seat.device.ordinal,
                                why.message);
    }
  }

  void try_again(Seat& seat, const Error& why) {
    if (queue_.give_back(seat.task->problem, index_of(seat))) return;
    TunedProblem tuned = begin_result(seat);
    tuned.skipped = why.message;
    end_task(seat, std::move(tuned));
  }

  void leave_out(Seat& seat, const Error& why) {
    seat.left_out = true;
    last_error_ = why;
    queue_.leave_out(index_of(seat));
    if (!stopped())
      tuning_.context.log->warn("device {} is left out: {}", seat.device.ordinal, why.message);
  }

  // Of what nothing computes, and of what no device is left for.
  void skip_the_rest() {
    for (const size_t i : plan_.order) {
      if (results_[i]) continue;
      TunedProblem tuned;
      tuned.wanted = plan_.problems[i].wanted;
      tuned.skipped = plan_.problems[i].skipped;
      if (tuned.skipped.empty() && stopped()) continue;
      if (tuned.skipped.empty())
        tuned.skipped =
            "no GPU is left that tunes" + (last_error_ ? ": " + last_error_->message : "");
      publish(i, std::move(tuned));
    }
  }

  const DeviceTuning& tuning_;
  const TunePlan& plan_;
  ProblemQueue queue_;
  ProblemClock clock_;
  std::vector<std::optional<size_t>> numbers_;  // of problems that began, as they are shown
  std::vector<std::optional<TunedProblem>> results_;
  std::vector<Seat> seats_;
  std::optional<Error> last_error_;  // of a device that was left out
  bool any_ready_ = false;
};

}  // namespace

Expected<std::vector<std::optional<TunedProblem>>> tune_on_devices(const DeviceTuning& tuning) {
  auto begun = begun_on(tuning);
  if (!begun) return tl::unexpected(begun.error());
  return DeviceTuner(tuning, *std::move(begun)).run();
}

}  // namespace gemmtune::app
