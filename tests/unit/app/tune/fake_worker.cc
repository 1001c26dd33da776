// A process that tunes nothing, in place of one that measures on a device. What it does depends on
// the device and on m of the problem; see device_tuner_test.cc. It writes "DEVICE M" of each
// problem into the file `log` beside the database.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/tune/devices/line_channel.h"
#include "app/tune/devices/worker_messages.h"
#include "core/problem.h"
#include "fake_worker.h"
#include "store/record_store.h"

namespace gemmtune::app {
namespace {

volatile std::sig_atomic_t asked_to_end = 0;

void on_signal(int) {
  asked_to_end = 1;
}

store::Record vendor_record(const Problem& problem, const WorkerSetup& setup, int64_t run) {
  store::Record record;
  record.job = {problem, {9, 0, false}, fake_uuid(setup.device), false};
  record.key = {"cublaslt", "rank=0", "", "13"};
  record.outcome = store::Outcome::vendor;
  record.measurement.emplace();
  store::Measurement& m = *record.measurement;
  m.median_us = m.ci_low_us = m.ci_high_us = m.min_us = 10.0 + setup.device;
  m.sample_count = 1;
  record.run_id = run;
  return record;
}

class Worker {
 public:
  Worker(const WorkerSetup& setup, LineChannel& channel) : setup_(setup), channel_(channel) {
    store::StoreOptions options;
    options.path = setup.places.db;
    store_ = store::open_store(options).value();
    Device device;
    device.uuid = fake_uuid(setup.device);
    device.name = "NVIDIA H200";
    device.arch = {9, 0, false};
    if (!store_->add_device(device)) std::abort();
    run_ = store_->begin_run({"0", "13.0", 13000, ""}).value();
  }

  // The next order, also one that has come already; nothing once no more will.
  std::optional<std::string> next_order() {
    if (ordered_.empty()) return channel_.wait_for_line();
    std::string line = std::move(ordered_.front());
    ordered_.erase(ordered_.begin());
    return line;
  }

  // False once it is to end.
  bool tune(const Problem& problem, bool again) {
    const auto m = problem.shape.m;
    note(m);
    WorkerMessage message;
    message.kind = WorkerMessage::Kind::progress;
    message.progress.done = 1;
    message.progress.best_us = 12;
    channel_.send(to_line(message));
    if (setup_.device == kBrokenDevice || m == kDiesTwice || (m == kDiesOnce && !again)) ::_exit(3);
    if (m == kHangs) {
      while (asked_to_end == 0) ::usleep(1000);
    }
    if (m == kSlow) wait_for_others();
    if (m == kEndsLate || (m == kDiesLateOnce && !again)) {
      message.progress.ends = true;
      channel_.send(to_line(message));
      wait_for_next();
      if (m == kDiesLateOnce) ::_exit(3);
    }
    message.kind = WorkerMessage::Kind::failure;
    message.error = {ErrorKind::failed, "planted"};
    message.device_lost = m == kLosesOnce && !again;
    if (m == kFails || message.device_lost) return channel_.send(to_line(message));
    message.kind = WorkerMessage::Kind::report;
    message.report = report_of(problem);
    return channel_.send(to_line(message));
  }

 private:
  void note(int64_t m) const {
    std::ofstream(setup_.places.db + ".log", std::ios::app)
        << std::to_string(setup_.device) + " " + std::to_string(m) + "\n";
  }

  // Until it is ordered, or ten seconds: then the process ends.
  void wait_for_next() {
    for (int i = 0; i < 10'000; ++i) {
      if (!channel_.take_lines(ordered_)) return;
      if (!ordered_.empty()) return;
      ::usleep(1000);
    }
    ::_exit(4);
  }

  // Until all other problems of the test were begun, or ten seconds.
  void wait_for_others() const {
    for (int i = 0; i < 10'000; ++i) {
      std::ifstream log(setup_.places.db + ".log");
      int lines = 0;
      for (std::string line; std::getline(log, line);) ++lines;
      if (lines >= kProblemsBesideSlow + 1) return;
      ::usleep(1000);
    }
  }

  StoredReport report_of(const Problem& problem) const {
    StoredReport stored;
    stored.vendor_best = store_->record(vendor_record(problem, setup_, run_)).value();
    stored.report.evaluated = setup_.search.jobs;
    stored.report.seconds = 2;
    stored.report.busy_seconds = 1;
    stored.report.interrupted = asked_to_end != 0;
    return stored;
  }

  const WorkerSetup& setup_;
  LineChannel& channel_;
  std::vector<std::string> ordered_;  // that came while a problem was tuned
  std::unique_ptr<store::RecordStore> store_;
  int64_t run_ = 0;
};

int run() {
  std::signal(SIGTERM, on_signal);
  LineChannel channel{Descriptor(STDIN_FILENO)};
  const auto line = channel.wait_for_line();
  if (!line) return 0;
  const WorkerSetup setup = *parse_setup(*line);
  if (setup.device == kAbsentDevice) {
    WorkerMessage message;
    message.kind = WorkerMessage::Kind::failure;
    message.error = {ErrorKind::unsupported, "no such device"};
    message.device_lost = true;
    channel.send(to_line(message));
    return 0;
  }
  Worker worker(setup, channel);
  channel.send(to_line(WorkerMessage{}));
  while (const auto problem = worker.next_order()) {
    const WorkerOrder order = *parse_order(*problem);
    if (!worker.tune(*parse_key(order.problem), order.again)) break;
  }
  return 0;
}

}  // namespace
}  // namespace gemmtune::app

int main() {
  return gemmtune::app::run();
}
