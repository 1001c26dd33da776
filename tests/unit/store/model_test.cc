#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "../rounds.h"
#include "random_records.h"
#include "store_fixture.h"

// best, near, list, candidates and done against a naive model, over random writes.

namespace gemmtune::store {
namespace {

struct Known {
  Record record;
  int64_t id = 0;
  int revision = 0;
  int measurements = 0;
};

std::string job_text(const Job& job) {
  return key(canonical(job.problem)) + "|" + to_string(job.arch) + "|" + job.device_uuid + "|" +
         (job.warm ? "w" : "c");
}

double known_us(const Record& record) {
  return record.measurement ? record.measurement->median_us : record.predicted_us.value_or(1e300);
}

// What candidates are ordered by: a time of a search counts half as much again as one of a final
// round, and one of a kernel that started early 1 us more.
double rank_us(const Record& record) {
  if (!record.measurement) return known_us(record);
  const double factor = record.measurement->final_round ? 1 : 1.5;
  return known_us(record) * factor + (record.measurement->started_early ? 1.0 : 0);
}

class Model {
 public:
  void record(const Record& record, int64_t id) {
    auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Known& entry) {
      return job_text(entry.record.job) == job_text(record.job) && entry.record.key == record.key;
    });
    if (found == entries_.end()) {
      entries_.push_back({});
      found = entries_.end() - 1;
    } else if (found->record.provenance < record.provenance) {
      return;
    }
    const auto measurement = record.measurement ? record.measurement : found->record.measurement;
    found->measurements += record.measurement ? 1 : 0;
    found->record = record;
    found->record.measurement = measurement;
    found->id = id;
    found->revision = ++revision_;
  }

  bool stale(const Known& entry) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Known& other) {
      return job_text(other.record.job) == job_text(entry.record.job) &&
             other.record.key.strategy == entry.record.key.strategy &&
             other.record.key.config == entry.record.key.config && other.revision > entry.revision;
    });
  }

  static bool passes(const Known& entry, const Filter& filter) {
    const Record& r = entry.record;
    if (filter.arch && r.job.arch != *filter.arch) return false;
    if (filter.device_uuid && r.job.device_uuid != *filter.device_uuid) return false;
    if (filter.type && r.job.problem.type != *filter.type) return false;
    if (filter.strategy && r.key.strategy != *filter.strategy) return false;
    if (filter.provenance && r.provenance != *filter.provenance) return false;
    if (filter.warm && r.job.warm != *filter.warm) return false;
    return filter.include_vendor || r.outcome != Outcome::vendor;
  }

  static bool usable(const Known& entry) {
    return entry.record.outcome == Outcome::ok || entry.record.outcome == Outcome::vendor;
  }

  // Id of the best among those that `matches`; 0 for none.
  template <class Matches>
  int64_t best(const Filter& filter, Matches matches) const {
    std::vector<std::tuple<bool, Provenance, double, int64_t>> ranked;
    for (const Known& entry : entries_) {
      if (!usable(entry) || !passes(entry, filter) || !matches(entry)) continue;
      ranked.emplace_back(stale(entry), entry.record.provenance, rank_us(entry.record), entry.id);
    }
    return ranked.empty() ? 0 : std::get<3>(*std::min_element(ranked.begin(), ranked.end()));
  }

  const std::vector<Known>& entries() const { return entries_; }

 private:
  std::vector<Known> entries_;
  int revision_ = 0;
};

bool same_problem(const Problem& a, const Problem& b) {
  return key(canonical(a)) == key(canonical(b));
}

void compare_best(RecordStore& store, const Model& model, Generator& random) {
  const Problem problem = random.problem();
  const Filter filter = random.filter();
  const auto got = store.best(problem, filter);
  REQUIRE(got);
  const int64_t expected = model.best(
      filter, [&](const Known& entry) { return same_problem(entry.record.job.problem, problem); });
  CHECK((got->has_value() ? (*got)->id : 0) == expected);
}

void compare_list(RecordStore& store, const Model& model, Generator& random) {
  const Filter filter = random.filter();
  const auto got = store.list(filter, static_cast<ListOrder>(random.below(3)));
  REQUIRE(got);
  std::set<std::string> jobs;
  for (const Known& entry : model.entries()) jobs.insert(job_text(entry.record.job));
  std::set<int64_t> expected;
  for (const std::string& job : jobs) {
    const int64_t id =
        model.best(filter, [&](const Known& entry) { return job_text(entry.record.job) == job; });
    if (id != 0) expected.insert(id);
  }
  std::set<int64_t> ids;
  for (const Record& record : *got) ids.insert(record.id);
  CHECK(ids == expected);
  CHECK(got->size() == expected.size());
}

double distance(const Shape& a, const Shape& b) {
  const double m = std::log(double(a.m) / double(b.m));
  const double n = std::log(double(a.n) / double(b.n));
  const double k = std::log(double(a.k) / double(b.k));
  return std::sqrt(m * m + n * n + k * k);
}

void compare_near(RecordStore& store, const Model& model, Generator& random) {
  const Problem problem = canonical(random.problem());
  const Filter filter = random.filter();
  const auto limit = static_cast<size_t>(random.below(5));
  const auto got = store.near(problem, filter, limit);
  REQUIRE(got);
  std::set<std::string> others;
  std::vector<std::pair<double, std::string>> expected;
  for (const Known& entry : model.entries()) {
    const Problem other = canonical(entry.record.job.problem);
    const bool of_other_type = other.type != problem.type;
    const bool similar = size_bytes(other.type) == size_bytes(problem.type) &&
                         other.layout == problem.layout && !same_problem(other, problem);
    if (!similar || !others.insert(key(other)).second) continue;
    const int64_t id = model.best(filter, [&](const Known& candidate) {
      return same_problem(candidate.record.job.problem, other);
    });
    const double away = distance(problem.shape, other.shape) + (of_other_type ? 0.1 : 0);
    if (id != 0) expected.emplace_back(away, key(other));
  }
  std::sort(expected.begin(), expected.end());
  expected.resize(std::min(expected.size(), limit));
  REQUIRE(got->size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Neighbour& neighbour = got->at(i);
    CHECK(neighbour.distance == doctest::Approx(expected[i].first));
    CHECK(key(neighbour.record.job.problem) == expected[i].second);
    CHECK(neighbour.record.id == model.best(filter, [&](const Known& entry) {
      return same_problem(entry.record.job.problem, neighbour.record.job.problem);
    }));
  }
}

void compare_candidates(RecordStore& store, const Model& model, Generator& random) {
  const Problem problem = random.problem();
  Filter filter = random.filter();
  const auto got = store.candidates(problem, filter);
  REQUIRE(got);
  filter.include_vendor = true;
  std::map<int64_t, const Known*> expected;
  for (const Known& entry : model.entries()) {
    if (same_problem(entry.record.job.problem, problem) && Model::passes(entry, filter)) {
      expected[entry.id] = &entry;
    }
  }
  REQUIRE(got->size() == expected.size());
  bool usable = true;
  std::tuple<bool, Provenance, double> last;  // the rank of the last usable one
  for (const Record& record : *got) {
    REQUIRE(expected.count(record.id) == 1);
    const Known& entry = *expected[record.id];
    CHECK(record.outcome == entry.record.outcome);
    CHECK(record.provenance == entry.record.provenance);
    CHECK(record.stale == model.stale(entry));
    CHECK(known_us(record) == known_us(entry.record));
    CHECK(store.history(record.id)->size() == static_cast<size_t>(entry.measurements));
    CHECK((usable || !Model::usable(entry)));  // usable ones first
    usable = Model::usable(entry);
    if (!usable) continue;
    const std::tuple rank(record.stale, record.provenance, rank_us(record));
    CHECK(rank >= last);
    last = rank;
  }
}

void compare_done(RecordStore& store, const Model& model, Generator& random) {
  const Job job = random.job();
  const auto got = store.done(job);
  REQUIRE(got);
  std::set<CandidateKey> expected;
  for (const Known& entry : model.entries()) {
    const bool finished =
        job.device_uuid.empty() || entry.record.provenance == Provenance::measured;
    if (job_text(entry.record.job) == job_text(job) && finished) expected.insert(entry.record.key);
  }
  std::set<CandidateKey> keys;
  for (const Finished& finished : *got) keys.insert(finished.key);
  CHECK(keys == expected);
  CHECK(got->size() == expected.size());
}

// A winner in words: what decides, and which candidates.
std::string winner_text(const Job& job, const Record* kernel, double rank, bool stale,
                        const Record* vendor) {
  std::string text = job_text(job);
  if (kernel != nullptr) {
    text += "|" + kernel->key.strategy + "|" + kernel->key.config + "|" + kernel->key.source_hash +
            "|" + kernel->key.compiler_version + "|" + std::string(to_string(kernel->provenance)) +
            (stale ? "|stale|" : "|") + std::to_string(kernel->registers) + "|" +
            std::to_string(known_us(*kernel)) + "|" + std::to_string(rank);
  }
  if (vendor != nullptr) {
    text += "|vendor|" + vendor->key.config + "|" + vendor->key.compiler_version + "|" +
            std::to_string(known_us(*vendor));
  }
  return text;
}

std::string winner_text(const Winner& winner, bool warm) {
  Job job;
  job.problem = *parse_key(winner.problem);
  job.arch = *parse_arch(winner.arch);
  job.device_uuid = winner.device_uuid;
  job.warm = warm;
  Record kernel;
  if (winner.kernel) {
    kernel.key = {std::string(winner.kernel->strategy), std::string(winner.kernel->config),
                  std::string(winner.kernel->source_hash),
                  std::string(winner.kernel->compiler_version)};
    kernel.provenance = winner.kernel->provenance;
    kernel.registers = winner.kernel->registers;
    kernel.predicted_us = winner.kernel->time_us;
  }
  Record vendor;
  if (winner.vendor) {
    vendor.key.config = winner.vendor->config;
    vendor.key.compiler_version = winner.vendor->version;
    vendor.predicted_us = winner.vendor->time_us;
  }
  return winner_text(job, winner.kernel ? &kernel : nullptr,
                     winner.kernel ? winner.kernel->rank_us : 0,
                     winner.kernel && winner.kernel->stale, winner.vendor ? &vendor : nullptr);
}

void compare_winners(RecordStore& store, const Model& model, bool warm) {
  std::multiset<std::string> expected;
  std::map<std::string, Job> jobs;
  for (const Known& entry : model.entries()) {
    if (entry.record.job.warm == warm) jobs.emplace(job_text(entry.record.job), entry.record.job);
  }
  const auto find = [&](int64_t id) {
    const auto found = std::find_if(model.entries().begin(), model.entries().end(),
                                    [&](const Known& entry) { return entry.id == id; });
    return found == model.entries().end() ? nullptr : &*found;
  };
  for (const auto& [text, job] : jobs) {
    Filter any;
    any.warm = std::nullopt;
    const Known* kernel = find(model.best(
        any, [&, name = text](const Known& e) { return job_text(e.record.job) == name; }));
    const Known* vendor = nullptr;
    for (const Known& entry : model.entries()) {
      if (entry.record.outcome != Outcome::vendor || job_text(entry.record.job) != text) continue;
      const auto rank = [&](const Known& e) {
        return std::tuple(model.stale(e), rank_us(e.record), e.id);
      };
      if (vendor == nullptr || rank(entry) < rank(*vendor)) vendor = &entry;
    }
    if (kernel == nullptr && vendor == nullptr) continue;
    expected.insert(winner_text(job, kernel != nullptr ? &kernel->record : nullptr,
                                kernel != nullptr ? rank_us(kernel->record) : 0,
                                kernel != nullptr && model.stale(*kernel),
                                vendor != nullptr ? &vendor->record : nullptr));
  }
  std::multiset<std::string> got;
  REQUIRE(
      store.winners(warm, [&](const Winner& winner) { got.insert(winner_text(winner, warm)); }));
  CHECK(got == expected);
}

TEST_CASE("queries agree with a naive model") {
  for (int seed = 1; seed <= rounds(3); ++seed) {
    CAPTURE(seed);
    Generator random(static_cast<unsigned>(seed));
    Sample sample;
    Model model;
    for (int step = 0; step < 250; ++step) {
      const Record record = random.record(sample.run);
      const auto id = sample.store->record(record);
      if (!id) FAIL(id.error().message);
      model.record(record, *id);
      compare_best(*sample.store, model, random);
      if (step % 10 == 3) REQUIRE(sample.store->update_winners());
      if (step % 5 == 0) {
        compare_winners(*sample.store, model, step % 2 == 0);
        compare_list(*sample.store, model, random);
        compare_near(*sample.store, model, random);
        compare_candidates(*sample.store, model, random);
        compare_done(*sample.store, model, random);
      }
    }
    CHECK(sample.store->check());
    // Somebody else's hands, which leave the file as good: what is gone is not a winner any more.
    SQLite::Database(sample.path().string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA foreign_keys = ON; DELETE FROM candidates");
    compare_winners(*sample.store, Model(), false);
    REQUIRE(sample.store->update_winners());
    compare_winners(*sample.store, Model(), false);
  }
}

TEST_CASE("winners are brought up to date by release and by opening for writing") {
  Sample sample;
  SQLite::Database database(sample.path().string(), SQLite::OPEN_READWRITE);
  const auto count = [&](const char* table) {
    return database.execAndGet("SELECT count(*) FROM " + std::string(table)).getInt();
  };
  REQUIRE(sample.store->record(sample_record(sample.run)));
  CHECK(count("changed_jobs") == 1);
  CHECK(count("winners") == 0);
  REQUIRE(sample.store->release({"me", {}}));
  CHECK(count("changed_jobs") == 0);
  CHECK(count("winners") == 1);
  REQUIRE(sample.store->record(sample_record(sample.run, 5, 1)));
  REQUIRE(sample.store->record(failed_record(sample.run, Outcome::illegal, 2)));
  CHECK(count("changed_jobs") == 1);
  sample.store.reset();
  must_open(sample.path());
  CHECK(count("changed_jobs") == 0);
  CHECK(count("winners") == 1);
  CHECK(database.execAndGet("SELECT time_us FROM winners").getDouble() == 5);
}

TEST_CASE("list is sorted as asked") {
  Sample sample;
  for (const int m : {512, 2, 64}) {
    Record record = sample_record(sample.run, 1000.0 / m);
    record.job = sample_job({m, 8, 8});
    REQUIRE(sample.store->record(record));
    sample.clock.advance(std::chrono::seconds(1));
  }
  const auto sizes = [&](ListOrder order) {
    std::vector<int64_t> sizes;
    const auto records = sample.store->list({}, order);
    for (const Record& record : *records) {
      sizes.push_back(record.job.problem.shape.m);
    }
    return sizes;
  };
  CHECK(sizes(ListOrder::by_problem) == std::vector<int64_t>{2, 64, 512});
  CHECK(sizes(ListOrder::by_time) == std::vector<int64_t>{512, 64, 2});
  CHECK(sizes(ListOrder::newest_first) == std::vector<int64_t>{64, 2, 512});
}

}  // namespace
}  // namespace gemmtune::store
