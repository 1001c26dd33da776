#include "store_fixture.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "store/shipped.h"

namespace gemmtune::store {

namespace fs = std::filesystem;

TempDir::TempDir() {
  // Hundreds of files are created and synced, which a memory file system does at once. What is
  // tested, processes that die, is the same there; machines that die are not tested.
  const fs::path memory = "/dev/shm";
  const bool in_memory = access(memory.c_str(), W_OK | X_OK) == 0;
  const fs::path parent = in_memory ? memory : fs::temp_directory_path();
  std::string name = (parent / "gemmtune-store-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

FakeClock::FakeClock()
    : time(std::make_shared<std::chrono::system_clock::time_point>(
          std::chrono::sys_days(std::chrono::year_month_day(
              std::chrono::year(2025), std::chrono::month(1), std::chrono::day(31))))) {}

Device sample_device(const std::string& uuid) {
  Device device;
  device.name = "NVIDIA H200";
  device.uuid = uuid;
  device.arch = {9, 0, false};
  device.sm_count = 132;
  device.memory_bytes = 150'000'000'000;
  device.l2_bytes = 62'914'560;
  device.driver_version = 13000;
  return device;
}

std::unique_ptr<RecordStore> must_open(const fs::path& path, const StoreOptions& base) {
  StoreOptions options = base;
  options.path = path;
  auto store = open_store(options);
  if (!store) FAIL(store.error().message);
  return *std::move(store);
}

int64_t prepare(RecordStore& store) {
  REQUIRE(store.add_device(sample_device(kUuid)));
  REQUIRE(store.add_device(sample_device(kOtherUuid)));
  const auto run = store.begin_run({"0.1.0", "13.0", 13000, "--budget 10"});
  REQUIRE(run);
  return *run;
}

Sample::Sample() {
  StoreOptions options;
  options.now = clock;
  store = must_open(path(), options);
  run = prepare(*store);
}

Job sample_job(const Shape& shape, const std::string& uuid) {
  return {make_problem(shape), {9, 0, false}, uuid, false};
}

CandidateKey sample_key(int number) {
  return {"double_buffer", "tile_m=128 tile_n=" + std::to_string(number), "0123456789abcdef",
          "13.0"};
}

Measurement sample_measurement(double median_us) {
  Measurement measurement;
  measurement.median_us = median_us;
  measurement.ci_low_us = median_us * 0.99;
  measurement.ci_high_us = median_us * 1.01;
  measurement.min_us = median_us * 0.9;
  measurement.sample_count = 3;
  measurement.samples_us = {median_us * 0.9, median_us, median_us * 1.1};
  measurement.sm_clock_min_mhz = 1500;
  measurement.sm_clock_median_mhz = 1980;
  measurement.power_w = 612.5;
  measurement.throttle_reasons = 0x8000000000000004ULL;  // the top bit must survive
  measurement.baseline_median_us = median_us * 1.2;
  return measurement;
}

Record sample_record(int64_t run, double median_us, int number) {
  Record record;
  record.job = sample_job();
  record.key = sample_key(number);
  record.registers = 128;
  record.spill_bytes = 8;
  record.smem_bytes = 32768;
  record.predicted_us = 9.5;
  record.max_error = 1e-6;
  record.vendor_max_error = 2e-6;
  record.measurement = sample_measurement(median_us);
  record.run_id = run;
  return record;
}

Record failed_record(int64_t run, Outcome outcome, int number) {
  Record record;
  record.job = sample_job();
  record.key = sample_key(number);
  record.outcome = outcome;
  record.reason = "because";
  record.run_id = run;
  return record;
}

std::vector<Entry> sample_entries() {
  const Sample sample;
  REQUIRE(sample.store->record(sample_record(sample.run)));
  std::vector<Entry> entries;
  REQUIRE(sample.store->entries({}, [&](const Entry& entry) { entries.push_back(entry); }));
  return entries;
}

SampleSet::SampleSet(std::string fingerprint, int number) : fingerprint_(std::move(fingerprint)) {
  auto entries = sample_entries();
  entries.front().device->device.uuid = kShippedUuid;
  entries.front().record.job.device_uuid = kShippedUuid;
  entries.front().record.key = sample_key(number);
  const TempDir dir;
  REQUIRE(create_shipped_file(dir / "set.db", entries, fingerprint_));
  database_ = read_bytes(dir / "set.db");
}

std::string schema_of(const fs::path& path) {
  SQLite::Database database(path.string());
  return database
      .execAndGet(
          "SELECT group_concat(sql, char(10)) FROM"
          " (SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name)")
      .getString();
}

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.good());
}

pid_t spawn(const std::function<int()>& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child != 0) return child;
  int code = 99;
  try {
    code = body();
  } catch (...) {
  }
  _exit(code);  // no destructors, no output buffers of the parent
}

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace gemmtune::store
