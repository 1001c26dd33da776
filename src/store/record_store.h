#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/exchange.h"
#include "store/process_identity.h"
#include "store/record.h"

namespace gemmtune::store {

// Restricts records; an empty field restricts nothing.
struct Filter {
  std::optional<Arch> arch;                // exactly this code arch
  std::optional<std::string> device_uuid;  // "" for records that hold for an arch only
  std::optional<DataType> type;
  std::optional<std::string> strategy;
  std::optional<Provenance> provenance;
  std::optional<bool> warm = false;  // cold results only, unless said otherwise
  bool include_vendor = false;       // let a vendor's algorithm be the best
};

enum class ListOrder { by_problem, by_time, newest_first };

// A record of a similar problem.
struct Neighbour {
  double distance = 0;  // Euclidean, in natural logarithms of m, n, k
  Record record;        // the best of that problem
};

// A finished candidate, for resuming.
struct Finished {
  CandidateKey key;
  Outcome outcome = Outcome::ok;
};

// Who takes work on.
struct ClaimOwner {
  std::string id;           // unique, e.g. a random text
  ProcessIdentity process;  // without it, others see the owner's end by its claims' lifetime only
};

// How many candidates of a job may be tried, by whoever tries them.
struct SharedBudget {
  int left = 0;       // beyond what was recorded up to `known`
  int64_t known = 0;  // a revision, as Changes has it
  // Which candidates count. Must not call the store.
  std::function<bool(const CandidateKey&)> counts;
};

struct ClaimRequest {
  ClaimOwner owner;
  std::chrono::seconds lifetime{120};  // after which others may take the work over
  size_t limit = 1;                    // candidates wanted
  // What was recorded up to this revision may be tried again.
  int64_t repeat_until = 0;
  std::optional<SharedBudget> budget;
};

enum class ClaimState {
  granted,
  finished,     // recorded
  held,         // by another owner
  not_reached,  // the limit or the budget was used up before
};

struct Claims {
  std::vector<ClaimState> states;  // parallel to what was wanted
  // What counts toward the budget (without one, everything of the job) and the caller may learn
  // more of: candidates that other owners hold, and what was recorded after SharedBudget::known.
  int held_by_others = 0;
  int newly_recorded = 0;
  bool budget_used_up = false;  // by this request, too

  // Indices of what was granted.
  std::vector<size_t> granted() const;
};

// What was recorded of a job.
struct Changes {
  std::vector<Record> records;  // in the order in which they were written last
  int64_t revision = 0;         // that this is the state of
};

// How a program tells which candidates are no longer what it would make itself.
struct Judge {
  std::string fingerprint;  // of all that the judgement depends on
  // Whether a candidate is out of date. The driver's version is that of the run that wrote it last,
  // 0 without one. Must not call the store.
  std::function<bool(const Record& record, int driver_version)> is_outdated;
};

// Which entries are asked for.
struct EntryQuery {
  Filter filter;  // include_vendor as it says
  std::optional<Problem> problem;
  bool best_only = false;  // of each job the best own one, and the best of the vendor's
};

// What merge() made of the entries.
struct MergeCounts {
  int added = 0;      // were not there
  int changed = 0;    // were there, with less
  int unchanged = 0;  // were there, with all of it
};

// Rows of each kind.
struct StoreInfo {
  int schema_version = 0;
  int64_t file_bytes = 0;
  int64_t devices = 0;
  int64_t problems = 0;
  int64_t runs = 0;
  int64_t candidates = 0;
  int64_t stale = 0;  // of those
  int64_t measurements = 0;
  int64_t claims = 0;  // work that is under way, or was when a process died
  std::vector<std::pair<std::string, int64_t>> outcomes;     // candidates of each, the most first
  std::vector<std::pair<std::string, int64_t>> provenances;  // the same
  std::string first_write;                                   // empty for a store without candidates
  std::string last_write;
};

struct PruneRequest {
  bool stale = false;                    // candidates of an older source or compiler
  bool failures = false;                 // candidates that cannot be used
  std::optional<int> keep_measurements;  // of each candidate, the latest; at least 1
  std::optional<std::string> not_since;  // candidates last written before this timestamp
  bool dry_run = false;                  // only count
};

struct PruneCounts {
  int64_t candidates = 0;
  int64_t measurements = 0;  // those of removed candidates included
};

// Every result ever obtained. Implementations are safe to call from several threads (calls are
// serialised), and several processes may use one store at a time.
//
// Every function returns an Error instead of throwing: kind usage where an argument is
// inconsistent, io where the store cannot be read or written (full disk, damage, a lock held too
// long). A function that writes does so in one transaction: after an error nothing of it is kept,
// after success it survives the end of the process, kill -9 included.
class RecordStore {
 public:
  virtual ~RecordStore() = default;

  // Makes a GPU known, or updates what is known about it. Needed before records name its uuid.
  virtual Expected<void> add_device(const Device& device) = 0;
  virtual Expected<std::vector<StoredDevice>> devices() = 0;

  // Notes an invocation of the tuner and returns its id for Record::run_id.
  virtual Expected<int64_t> begin_run(const RunInfo& run) = 0;

  // Writes a candidate and, if set, its measurement, and releases its claim. A candidate that is
  // known already (same job and key) is updated and the measurement added to its history; only a
  // record of lesser provenance (predicted < transferred < measured) leaves it as it is. Returns
  // the candidate's id. Usage errors: an invalid problem; an unknown device or run; a measurement
  // with an outcome that allows none (anything but ok, vendor, eliminated_early) or with a
  // provenance other than measured; outcome ok or vendor, measured, without a measurement; neither
  // measurement nor predicted_us for another ok; `measured` without a device.
  virtual Expected<int64_t> record(const Record& record) = 0;

  // The fastest verified candidate of `problem`, or nothing. Current records come before stale
  // ones, then measured before transferred before predicted, then the lowest time (latest median,
  // else the prediction; one that was not timed in a final round counts half as much again), then
  // the oldest id. This is the order wherever something is the best of others.
  virtual Expected<std::optional<Record>> best(const Problem& problem, const Filter& filter) = 0;

  // The best records of at most `limit` other problems with the same accumulator, math and layouts
  // and types as wide, nearest first: a problem of the other type (bf16 and f16, e4m3 and e5m2) is
  // as far away as one of 1.1 times the size.
  virtual Expected<std::vector<Neighbour>> near(const Problem& problem, const Filter& filter,
                                                size_t limit) = 0;

  // Every candidate of `problem`, failures included: usable ones first and best first. Vendors are
  // always included.
  virtual Expected<std::vector<Record>> candidates(const Problem& problem,
                                                   const Filter& filter) = 0;

  // All measurements of a candidate, oldest first.
  virtual Expected<std::vector<Measurement>> history(int64_t id) = 0;

  // The candidate with this id, or nothing.
  virtual Expected<std::optional<Record>> get(int64_t id) = 0;

  // The best record of each job (problem, arch, device, warm) that has one.
  virtual Expected<std::vector<Record>> list(const Filter& filter, ListOrder order) = 0;

  // Hands the winner of every job that has one to `visit`, in no particular order; what is visited
  // is the state of one moment. Much faster than list(): one row a job is read. `visit` must not
  // call the store.
  virtual Expected<void> winners(bool warm, const std::function<void(const Winner&)>& visit) = 0;

  // Brings up to date what winners() reads, so that it need not look at the candidates of jobs that
  // changed. Opening for writing and release() do so; worth a call after many writes.
  virtual Expected<void> update_winners() = 0;

  // The candidates of `job` that need no further work: those measured (or failed) on its device;
  // for a job without a device, all that are recorded.
  virtual Expected<std::vector<Finished>> done(const Job& job) = 0;

  // The number of the latest write of any candidate; grows with every one.
  virtual Expected<int64_t> revision() = 0;

  // The candidates of `job` that were written after `revision` and need no further work, as in
  // done().
  virtual Expected<Changes> changes(const Job& job, int64_t revision) = 0;

  // Reserves up to request.limit of `wanted`, first come first served, and as many as the budget
  // allows: what others hold and what was recorded since count. Passes over what is finished and
  // what another owner holds; an owner's own claims are granted again and extended. A claim ends
  // with record(), release(), its lifetime, or its owner's process, if that ran on this machine.
  virtual Expected<Claims> claim(const Job& job, std::span<const CandidateKey> wanted,
                                 const ClaimRequest& request) = 0;

  // Lets every claim of an owner last for `lifetime` from now.
  virtual Expected<void> renew(const ClaimOwner& owner, std::chrono::seconds lifetime) = 0;

  // Gives back every claim of an owner.
  virtual Expected<void> release(const ClaimOwner& owner) = 0;

  // Hands the entries that `query` asks for to `visit`, in an order that depends on their content
  // only; what is visited is the state of one moment. `visit` must not call this store.
  virtual Expected<void> entries(const EntryQuery& query,
                                 const std::function<void(const Entry&)>& visit) = 0;

  // The entry of the candidate with this id, or nothing.
  virtual Expected<std::optional<Entry>> entry(int64_t id) = 0;

  // Takes in what another store knows: each candidate becomes merged() of both sides. In which
  // order stores are merged, and how often, makes no difference to what entries() then says, what
  // is stale, and what is best (where several are equally fast, which of them). All or nothing.
  // Usage error for an entry that parse_line would refuse.
  virtual Expected<MergeCounts> merge(std::span<const Entry> entries) = 0;

  // Marks the candidates that are out of date, and those only: they are stale from then on, until
  // they are written again or judged otherwise. Does nothing if that was done with the same
  // fingerprint already and nothing was merged since. Returns how many changed.
  virtual Expected<int64_t> judge(const Judge& judge) = 0;

  // What a performance model learnt for the devices of `arch`, as text; nothing if none was kept.
  // Stays here: exports and merges do not take it along.
  virtual Expected<std::optional<std::string>> calibration(Arch arch) = 0;
  // Keeps it in place of an earlier one.
  virtual Expected<void> keep_calibration(Arch arch, const std::string& text) = 0;

  // What the store holds.
  virtual Expected<StoreInfo> info() = 0;

  // Removes what `request` says, and what nothing refers to any more; the best of a job always
  // stays, own and vendor's. Gives the space back to the file system where it can.
  virtual Expected<PruneCounts> prune(const PruneRequest& request) = 0;

  // Reads everything and checks it. An error of kind io describes the first damage.
  virtual Expected<void> check() = 0;
};

// Everything that the store holds of candidates, those of operands in cache included.
Expected<std::vector<Entry>> all_entries(RecordStore& store);

// A set of results that come with a program, of devices whose uuids are is_shipped() (shipped.h).
// Both outlive every use of it.
struct ShippedResults {
  std::string_view fingerprint;  // another for every other set
  std::string_view database;     // the bytes of a create_shipped_file() (shipped.h)
};

struct StoreOptions {
  std::filesystem::path path;
  bool read_only = false;         // never creates, upgrades or changes anything
  bool create_directory = false;  // make the parent folders, as for the default path
  // What a store that is created, or was left empty, begins with. In a store that holds another
  // set, or none, it takes the place of all results of such devices; others stay. Either is one
  // transaction: there is no store without, or with half of them, whenever a process is killed.
  std::optional<ShippedResults> shipped;
  std::chrono::milliseconds busy_timeout{10000};  // how long to wait for another process's write
  // Called once for each wait that has taken a few seconds, on the thread that waits; must neither
  // throw nor call the store. May be empty.
  std::function<void()> on_long_wait;
  // The clock of timestamps and claims; a test passes its own.
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

// Opens the store at options.path, creates it where there is none, and upgrades an older one.
// Errors, with the file untouched: usage for a path that cannot be used (no such folder, not
// writable, on a network file system, not a database, another program's, damaged, from a newer
// version); not_found for a missing or empty file with read_only; io where reading or writing
// fails.
Expected<std::unique_ptr<RecordStore>> open_store(const StoreOptions& options);

// The schema version that stores are created with and upgraded to.
int schema_version();

// The schema version of the store at `path` if it is older than schema_version(): nothing reads
// such a store before it was opened for writing, which upgrades it. Nothing for any other file, and
// where there is none. Writes nothing.
std::optional<int> older_schema(const std::filesystem::path& path);

// Whether the store at `path` is of schema_version() and holds another set than that, or none.
// False for any other file, and where there is none. Writes nothing.
bool holds_other_shipped(const std::filesystem::path& path, std::string_view fingerprint);

// A store in memory that ends with its owner, with these results, if any.
Expected<std::unique_ptr<RecordStore>> open_memory_store(
    const std::optional<ShippedResults>& shipped = {});

}  // namespace gemmtune::store
