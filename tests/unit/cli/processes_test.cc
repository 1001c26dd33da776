// The built binary killed, interrupted, and several times at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "workplace.h"

namespace gemmtune::cli_test {

using nlohmann::json;

TEST_CASE("kill -9 loses nothing that was finished, and the next run goes on") {
  require_compiler();
  const Workplace place;
  Process first(place.folder, place.tune(14), place.variables);
  REQUIRE(wait_for([&] { return place.records().size() >= 4 || !first.running(); }));
  first.signal(SIGKILL);
  CHECK(first.wait().code == -SIGKILL);
  place.check_store();
  const auto before = place.records();
  REQUIRE(before.size() >= 4);
  REQUIRE(before.size() < 14);
  std::map<int64_t, std::string> stamps;
  for (const store::Record& record : before) stamps[record.id] = record.updated_at;

  const Finished second = run(place.folder, place.tune(14), place.variables);
  CAPTURE(second.err);
  REQUIRE(second.code == 0);
  const json result = json::parse(second.out)["results"][0];
  CHECK(result["resumed"] == before.size());
  // What the killed process had taken on is free again.
  CHECK(result["resumed"].get<size_t>() + result["evaluated"].get<size_t>() == 14);
  // Nothing that was done was done again, but for the finalists.
  size_t touched = 0;
  for (const store::Record& record : place.records()) {
    const auto known = stamps.find(record.id);
    if (known != stamps.end() && known->second != record.updated_at) ++touched;
  }
  CHECK(touched <= 6);
}

TEST_CASE("of several problems, too, nothing is lost when another process writes and ends") {
  require_compiler();
  const Workplace place;
  const Shape shapes[] = {{448, 256, 256}, {384, 256, 256}, {320, 256, 256}};
  const auto count_of = [&](const Shape& shape) {
    const auto store = place.open();
    const auto rows =
        store ? store->candidates(make_problem(shape), {}).value() : std::vector<store::Record>();
    return rows.size();
  };
  // Large ones come first. The last one keeps the process busy for what is checked of the others.
  Arguments arguments = place.tune(6);
  for (const char* more : {"320x256x256", "384x256x256", "448x256x256"})
    arguments.insert(arguments.end(), {"--shape", more});
  arguments.emplace_back("--no-cache");
  Process tuner(place.folder, arguments, place.variables);
  for (const Shape& shape : shapes) {
    CAPTURE(shape.m);
    CAPTURE(tuner.err_so_far());
    REQUIRE(wait_for([&] { return count_of(shape) >= 1 || !tuner.running(); }));
    REQUIRE(tuner.running());
    CHECK(place.open(false)->begin_run({}));
    CHECK(std::filesystem::exists(place.db + "-wal"));
    REQUIRE(wait_for([&] { return count_of(shape) >= 3 || !tuner.running(); }));
  }
  tuner.signal(SIGKILL);
  const int code = tuner.wait().code;
  CHECK((code == -SIGKILL || code == 0));
  place.check_store();
  CHECK(count_of(shapes[0]) == 6);
  CHECK(count_of(shapes[1]) == 6);
  CHECK(count_of(shapes[2]) >= 3);
}

TEST_CASE("an interrupt that timeout(1) sends to a process and to its group is one") {
  require_compiler();
  const Workplace place;
  for (const int number : {SIGINT, SIGTERM}) {
    Process process(place.folder, place.tune(200), place.variables);
    const size_t before = place.records().size();
    REQUIRE(wait_for([&] { return place.records().size() > before || !process.running(); }));
    process.signal(number);
    process.signal(number);
    const Finished finished = process.wait();
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    CHECK(json::parse(finished.out)["interrupted"] == true);
  }
}

TEST_CASE("ctrl-C ends with what was found so far, and the next run goes on") {
  require_compiler();
  const Workplace place;
  Process process(place.folder, place.tune(200), place.variables);
  REQUIRE(wait_for([&] { return place.records().size() >= 3 || !process.running(); }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  const json tuned = json::parse(finished.out);
  CHECK(tuned["interrupted"] == true);
  const json& result = tuned["results"][0];
  CHECK(result["interrupted"] == true);
  CHECK(result["evaluated"] >= 3);
  CHECK(result["evaluated"] < 200);
  CHECK(!result["ranking"].empty());
  CHECK(place.records().size() == result["evaluated"]);

  const int more = result["evaluated"].get<int>() + 2;
  const Finished next = run(place.folder, place.tune(more), place.variables);
  REQUIRE(next.code == 0);
  const json resumed = json::parse(next.out)["results"][0];
  CHECK(resumed["resumed"] == result["evaluated"]);
  CHECK(resumed["evaluated"] == 2);
}

TEST_CASE("a second signal ends the process at once") {
  require_compiler();
  const Workplace place;
  Process process(place.folder, place.tune(200), place.variables);
  REQUIRE(wait_for([&] { return place.records().size() >= 2 || !process.running(); }));
  process.signal(SIGTERM);
  process.signal(SIGTERM);
  const Finished finished = process.wait();
  // Both may arrive as one if the first is still pending.
  CHECK((finished.code == -SIGTERM || finished.code == 0));
  place.check_store();
}

TEST_CASE("what a killed process had taken on, the model's favourite first, is tried by the next") {
  require_compiler();
  const Workplace undisturbed;
  REQUIRE(run(undisturbed.folder, undisturbed.tune(1), undisturbed.variables).code == 0);
  const std::string favourite = undisturbed.records().front().key.config;

  const Workplace place;
  Process first(place.folder, place.tune(4), place.variables);
  REQUIRE(wait_for([&] { return place.claims() > 0 || !first.running(); }));
  first.signal(SIGKILL);
  REQUIRE(first.wait().code == -SIGKILL);
  REQUIRE(place.claims() > 0);
  const auto finished_before = place.records().size();
  for (const bool fresh : {false, true}) {
    Arguments again = place.tune(4);
    if (fresh) again.emplace_back("--fresh");
    const Finished next = run(place.folder, again, place.variables);
    CAPTURE(next.err);
    REQUIRE(next.code == 0);
    const json result = json::parse(next.out)["results"][0];
    CHECK(result["resumed"] == (fresh ? 0 : finished_before));
    CHECK(result["evaluated"] == (fresh ? 4 : 4 - finished_before));
    const auto records = place.records();
    CHECK(std::any_of(records.begin(), records.end(),
                      [&](const store::Record& record) { return record.key.config == favourite; }));
    CHECK(place.claims() == 0);
  }
}

TEST_CASE("processes share one job and its budget, and lose nothing") {
  require_compiler();
  for (const size_t count : {2, 4}) {
    CAPTURE(count);
    const Workplace place;
    std::vector<std::unique_ptr<Process>> processes;
    for (size_t i = 0; i < count; ++i)
      processes.push_back(std::make_unique<Process>(place.folder, place.tune(10), place.variables));
    size_t evaluated = 0;
    std::string winner;
    for (const auto& process : processes) {
      const Finished finished = process->wait();
      CAPTURE(finished.err);
      REQUIRE(finished.code == 0);
      const json result = json::parse(finished.out)["results"][0];
      evaluated += result["evaluated"].get<size_t>();
      CHECK(result["evaluated"].get<size_t>() + result["resumed"].get<size_t>() == 10);
      const auto config = result["ranking"][0]["config"].get<std::string>();
      if (winner.empty()) winner = config;
      CHECK(config == winner);
    }
    // Every candidate is there once, and none was tried by two.
    CHECK(evaluated == 10);
    CHECK(place.records().size() == 10);
    CHECK(place.claims() == 0);
    place.check_store();
  }
}

}  // namespace gemmtune::cli_test
