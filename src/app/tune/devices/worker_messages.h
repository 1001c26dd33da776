#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/environment.h"
#include "app/tune/search.h"
#include "core/error.h"
#include "store/record_store.h"
#include "tuner/session/session.h"

// What a command and the processes that tune for it, one on each device, say to each other: JSON,
// one value a line. The command says the setup, and then one problem at a time: the next one once
// the one before is tuned, or once its best are compared.
namespace gemmtune::app {

// What holds for all problems.
struct WorkerSetup {
  int64_t parent = 0;  // pid of the command: a worker ends with it
  int device = 0;      // ordinal
  std::string arch;
  Places places;
  int log_level = 0;                     // spdlog's
  std::vector<std::string> strategies;   // as in TuneOptions
  std::vector<std::string> space_files;  // as in TuneOptions
  SearchOptions search;                  // `jobs` are the worker's own
};

std::string to_line(const WorkerSetup& setup);
Expected<WorkerSetup> parse_setup(std::string_view line);

// A problem to tune.
struct WorkerOrder {
  std::string problem;  // its key()
  bool again = false;   // another process began it: what that one tried is not tried again
};

std::string to_line(const WorkerOrder& order);
Expected<WorkerOrder> parse_order(std::string_view line);

// A report whose records are named by their ids in the store.
struct StoredReport {
  tuner::TuneReport report;  // without job, records and kernel
  std::vector<int64_t> ranking;
  std::optional<int64_t> vendor_first;
  std::optional<int64_t> vendor_best;
};
StoredReport stored_report(const tuner::TuneReport& report);
// The report with its records; one that is no longer in the store is left out.
Expected<tuner::TuneReport> with_records(const StoredReport& stored, store::RecordStore& store);

// What a worker says.
struct WorkerMessage {
  enum class Kind {
    ready,     // for a problem
    progress,  // of the problem
    report,    // the problem is tuned
    failure,   // the problem is not; before `ready`: none can be
  };
  Kind kind = Kind::ready;
  tuner::Progress progress;
  StoredReport report;
  Error error;
  bool device_lost = false;  // with a failure: this process can use the device no more, and ends
};

std::string to_line(const WorkerMessage& message);
Expected<WorkerMessage> parse_message(std::string_view line);

}  // namespace gemmtune::app
