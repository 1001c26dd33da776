#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "store/record_store.h"

namespace gemmtune::store {

// A fresh folder, removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A clock that stands still until it is moved.
struct FakeClock {
  std::shared_ptr<std::chrono::system_clock::time_point> time;

  FakeClock();
  void advance(std::chrono::milliseconds by) const { *time += by; }
  std::chrono::system_clock::time_point operator()() const { return *time; }
};

inline constexpr const char* kUuid = "GPU-00000000-0000-0000-0000-000000000001";
inline constexpr const char* kOtherUuid = "GPU-00000000-0000-0000-0000-000000000002";

Device sample_device(const std::string& uuid = kUuid);

// Opens (or creates) a store; fails the test where that fails.
std::unique_ptr<RecordStore> must_open(const std::filesystem::path& path,
                                       const StoreOptions& base = {});

// A store with both sample devices and one run, whose id is `run`.
struct Sample {
  TempDir dir;
  FakeClock clock;
  std::unique_ptr<RecordStore> store;
  int64_t run = 0;

  Sample();
  std::filesystem::path path() const { return dir / "tuned.db"; }
};

// Adds the sample devices and a run; returns the run's id.
int64_t prepare(RecordStore& store);

Job sample_job(const Shape& shape = {128, 128, 64}, const std::string& uuid = kUuid);
CandidateKey sample_key(int number = 0);
Measurement sample_measurement(double median_us);

// A verified, measured candidate; every field differs from its default.
Record sample_record(int64_t run, double median_us = 10, int number = 0);

// A candidate that failed with `outcome`.
Record failed_record(int64_t run, Outcome outcome, int number = 0);

// The entries of a store with one sample record.
std::vector<Entry> sample_entries();

// A set of one kernel, by number, of a shipped device.
inline constexpr const char* kShippedUuid = "shipped-nvidia-h200";
class SampleSet {
 public:
  SampleSet(std::string fingerprint, int number);
  ShippedResults results() const { return {fingerprint_, database_}; }

 private:
  std::string fingerprint_;
  std::string database_;
};

// What makes the objects of a database.
std::string schema_of(const std::filesystem::path& path);

// The file's bytes; empty where there is none.
std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

// Runs `body` in a child process; its return value is the exit code, an escaped exception 99.
pid_t spawn(const std::function<int()>& body);
int wait_for(pid_t child);  // exit code, or 1000 + signal

}  // namespace gemmtune::store
