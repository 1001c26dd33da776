#include "shipped/shipped_results.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/shipped.h"

namespace gemmtune::shipped {
namespace {

std::unique_ptr<store::RecordStore> open_results() {
  auto store = store::open_memory_store(results());
  REQUIRE_MESSAGE(store.has_value(), store.error().message);
  return *std::move(store);
}

TEST_CASE("what the files hold is shipped, and nothing else") {
  std::multiset<std::string> wanted;
  for (const auto& file : std::filesystem::directory_iterator(GEMMTUNE_SOURCE_DIR "/db/tuned")) {
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      const auto entry = store::parse_line(line);
      REQUIRE_MESSAGE(entry.has_value(), entry.error().message);
      wanted.insert(store::to_line(*entry));
    }
  }
  REQUIRE(wanted.size() > 1000);
  const auto all = entries();
  REQUIRE_MESSAGE(all.has_value(), all.error().message);
  std::multiset<std::string> held;
  for (const store::Entry& entry : *all) held.insert(store::to_line(entry));
  CHECK(held == wanted);
  CHECK(open_results()->check());
}

TEST_CASE("each is measured on a shipped device, and kernels in a final round") {
  const auto all = entries().value();
  for (const store::Entry& entry : all) {
    CAPTURE(store::to_line(entry));
    REQUIRE(entry.device);
    CHECK(store::is_shipped(entry.device->device.uuid));
    CHECK(entry.record.provenance == store::Provenance::measured);
    if (entry.record.outcome == store::Outcome::ok)
      CHECK(entry.timings.back().measurement.final_round);
  }
}

// Beside these two only the time of an algorithm that programs get something faster for.
TEST_CASE("every problem has an own kernel and a vendor's time") {
  const auto all = entries().value();
  std::set<std::string> jobs;
  for (const store::Entry& entry : all)
    jobs.insert(entry.record.job.device_uuid + " " + key(entry.record.job.problem));
  size_t complete = 0;
  size_t firsts = 0;
  REQUIRE(open_results()->winners(false, [&](const store::Winner& w) {
    REQUIRE((w.kernel && w.vendor));
    ++complete;
    if (w.vendor->config.starts_with("rank=0 ") || w.vendor->first_us == 0) return;
    ++firsts;
    CAPTURE(w.problem);
    CHECK(w.vendor->time_us < 1.01 * w.kernel->rank_us);
    CHECK(w.vendor->first_us >= 1.01 * std::min(w.kernel->rank_us, w.vendor->time_us));
  }));
  CHECK(complete == jobs.size());
  CHECK(2 * complete + firsts == all.size());
}

}  // namespace
}  // namespace gemmtune::shipped
