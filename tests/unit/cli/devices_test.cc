// `tune --devices` of the built binary on fake GPUs, whose kernels compute nothing: every candidate
// is refused by the verifier, and recorded.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "../contains.h"
#include "store/process_identity.h"
#include "workplace.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

constexpr const char* kTwoModels = "NVIDIA H200,NVIDIA H100 80GB HBM3";

struct Fakes : Workplace {
  explicit Fakes(const std::string& gpus = "NVIDIA H200,NVIDIA H200") {
    variables["GEMMTUNE_FAKE_GPUS"] = gpus;
    // Beside the fake driver something that is no cuBLASLt: a real one would call a real driver.
    std::filesystem::create_symlink(GEMMTUNE_FAKE_NVML, folder.file("libcublasLt.so.13"));
    variables["LD_LIBRARY_PATH"] = GEMMTUNE_BINARY_DIR "/tests/fake_cuda:" + folder.path().string();
    variables["CUDA_VISIBLE_DEVICES"] = "";
  }
  Arguments tune(const Arguments& more, int problems = 3, const char* jobs = "2") const {
    Arguments arguments = {"tune",
                           "--space",
                           space,
                           "--candidates",
                           "2",
                           "--m",
                           "8:" + std::to_string(8 * problems) + ":8"};
    for (const char* argument : {"--n", "8", "--k", "8", "--jobs", jobs})
      arguments.emplace_back(argument);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Finished run(const Arguments& more) const { return cli_test::run(folder, tune(more), variables); }
};

// The processes that `parent` started and that run.
std::vector<store::ProcessIdentity> children_of(pid_t parent) {
  const std::string task = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent);
  std::ifstream file(task + "/children");
  std::vector<store::ProcessIdentity> children;
  for (int64_t pid = 0; file >> pid;) children.push_back(store::identity_of(pid));
  return children;
}

TEST_CASE("two GPUs tune a list of problems, each on one of them") {
  require_compiler();
  const Fakes place;
  const Finished finished = place.run({"--devices", "all", "--json"});
  CAPTURE(finished.err);
  CHECK(finished.code == 1);
  CHECK(contains(finished.err, "no problem could be tuned"));
  CHECK(contains(finished.err, "[1/3] "));
  CHECK((contains(finished.err, "on device 0") || contains(finished.err, "on device 1")));
  const json tuned = json::parse(finished.out);
  CHECK(tuned["devices"].size() == 2);
  CHECK(tuned["skipped"].size() == 3);
  for (const auto& skipped : tuned["skipped"])
    CHECK(contains(skipped["reason"].get<std::string>(), "no candidate worked"));
  const auto store = place.open();
  REQUIRE(store);
  for (const int64_t m : {8, 16, 24}) {
    CAPTURE(m);
    std::set<std::string> devices;
    const auto records = store->candidates(make_problem({m, 8, 8}), {}).value();
    CHECK(records.size() == 2);
    for (const store::Record& record : records) devices.insert(record.job.device_uuid);
    CHECK(devices.size() == 1);
  }
}

TEST_CASE("a GPU that is named twice tunes a list by two processes, in turns") {
  const Fakes place;
  const Finished finished = place.run({"--devices", "1,1", "--json"});
  CAPTURE(finished.err);
  CHECK(contains(finished.err, "no problem could be tuned"));
  CHECK(json::parse(finished.out)["skipped"].size() == 3);
  const auto store = place.open();
  REQUIRE(store);
  std::set<std::string> devices;
  for (const int64_t m : {8, 16, 24}) {
    const auto records = store->candidates(make_problem({m, 8, 8}), {}).value();
    CHECK(records.size() == 2);
    for (const store::Record& record : records) devices.insert(record.job.device_uuid);
  }
  REQUIRE(devices.size() == 1);
  CHECK(std::filesystem::exists(place.folder.file("gemm-tune-" + *devices.begin() + ".lock")));
}

TEST_CASE("a longer list is tuned by two processes in turns, unless one is asked for") {
  const Fakes place;
  const auto plan = [&](const Arguments& more, int problems, const char* jobs = "16") {
    Arguments arguments = {"--dry-run", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json::parse(
        run(place.folder, place.tune(arguments, problems, jobs), place.variables).out);
  };
  const std::string in_turns = "2 problems in turns";
  const json longer = plan({}, 6);
  CHECK(contains(longer["note"].get<std::string>(), in_turns));
  CHECK(longer["devices"].size() == 1);
  CHECK(contains(plan({"--device", "1"}, 6)["note"].get<std::string>(), in_turns));
  CHECK_FALSE(contains(plan({"--devices", "0"}, 6)["note"].get<std::string>(), in_turns));
  CHECK_FALSE(contains(plan({"--seconds", "10"}, 6)["note"].get<std::string>(), in_turns));
  CHECK_FALSE(contains(plan({}, 3)["note"].get<std::string>(), in_turns));
  const json on_both = plan({"--devices", "all"}, 8, "24");
  CHECK(contains(on_both["note"].get<std::string>(), "devices 0, 1"));
  CHECK(contains(on_both["note"].get<std::string>(), in_turns + " on each"));
  CHECK(on_both["devices"].size() == 2);
  CHECK_FALSE(contains(plan({"--devices", "all"}, 8)["note"].get<std::string>(), in_turns));
  CHECK_FALSE(contains(plan({"--devices", "0,1"}, 8, "24")["note"].get<std::string>(), in_turns));
}

TEST_CASE("a dry run says which GPUs would tune; of one, --devices is --device") {
  const Fakes place;
  const Finished both = place.run({"--devices", "0,1", "--dry-run"});
  CAPTURE(both.err);
  CHECK(both.code == 0);
  CHECK(contains(both.out, "measured on devices 0, 1: NVIDIA H200 (132 SMs each)"));
  const Finished one = place.run({"--devices", "1", "--dry-run"});
  CHECK(one.out == place.run({"--device", "1", "--dry-run"}).out);
  CHECK(contains(one.out, "measured on device 1: NVIDIA H200"));
  // Of three problems a shard has one, for which one GPU is enough.
  const Finished shard = place.run({"--devices", "all", "--dry-run", "--shard", "3/3", "--json"});
  CHECK(json::parse(shard.out)["devices"].size() == 1);
}

TEST_CASE("GPUs of two models are refused, and two options for one thing") {
  const Fakes mixed(kTwoModels);
  const Finished refused = mixed.run({"--devices", "all"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "--devices 0 (NVIDIA H200) or 1 (NVIDIA H100 80GB HBM3)"));
  CHECK(mixed.run({"--devices", "0", "--dry-run"}).code == 0);
  CHECK(mixed.run({"--devices", "0", "--device", "0"}).code == 2);
  CHECK(mixed.run({"--devices", "2"}).code == 2);
  const Fakes none("");
  const Finished without = none.run({"--devices", "all"});
  CHECK(without.code == 2);
  CHECK(contains(without.err, "no GPU here"));
  CHECK(none.records().empty());
}

using Workers = std::vector<store::ProcessIdentity>;

// Of a tuning on two GPUs that is interrupted before anything was found. `interrupt` is given its
// process and the workers' processes.
void check_report_of_interrupted(
    const std::function<void(const Process&, const Workers&)>& interrupt) {
  require_compiler();
  const Fakes place;
  Process process(place.folder, place.tune({"--devices", "all", "--json"}, 40), place.variables);
  REQUIRE(wait_for([&] { return children_of(process.id()).size() == 2 || !process.running(); }));
  const Workers workers = children_of(process.id());
  REQUIRE(workers.size() == 2);
  interrupt(process, workers);
  const Finished finished = process.wait();
  CAPTURE(finished.err);
  CHECK(finished.code == 1);
  CHECK(contains(finished.err, "interrupted before anything was found"));
  CHECK_FALSE(contains(finished.err, "signal"));
  CHECK(json::parse(finished.out)["interrupted"] == true);
  for (const store::ProcessIdentity& worker : workers) CHECK(store::has_ended(worker));
  CHECK(place.claims() == 0);
}

TEST_CASE("Ctrl-C ends a tuning on two GPUs with its report") {
  check_report_of_interrupted(
      [](const Process& process, const Workers&) { process.signal(SIGINT); });
}

// As timeout(1) does: SIGTERM to the command, and at once to all processes of its group.
TEST_CASE("a signal to all processes of a tuning on two GPUs ends it with its report") {
  check_report_of_interrupted([](const Process& process, const Workers& workers) {
    process.signal(SIGTERM);
    process.signal(SIGTERM);
    for (const store::ProcessIdentity& worker : workers)
      kill(static_cast<pid_t>(worker.pid), SIGTERM);
  });
}

TEST_CASE("bench writes its files although stdout cannot be written") {
  require_compiler();
  Fakes place("NVIDIA H200");
  place.variables.erase("GEMM_TUNE_DB");  // what ships is there, a database of that name is not
  place.variables["HOME"] = place.folder.path().string();
  std::string command = "env -i";
  for (const auto& [name, value] : place.variables) {
    command += " '";
    command.append(name).append("=").append(value).append("'");
  }
  const std::string csv = place.folder.file("rows.csv");
  command += " " GEMMTUNE_BINARY_DIR "/bin/gemm-tune bench --shape 8x8x8 --seconds 1 --csv " + csv;
  static_cast<void>(std::system((command + " >/dev/full 2>/dev/null").c_str()));
  CHECK(std::filesystem::exists(csv));
}

TEST_CASE("kill -9 of a tuning ends its processes, and the next run goes on") {
  require_compiler();
  const Fakes place;
  Process process(place.folder, place.tune({"--devices", "all", "--json"}, 40), place.variables);
  REQUIRE(wait_for([&] { return contains(process.err_so_far(), "[3/40") || !process.running(); }));
  const auto workers = children_of(process.id());
  REQUIRE(workers.size() == 2);
  process.signal(SIGKILL);
  CHECK(process.wait().code == -SIGKILL);
  for (const store::ProcessIdentity& worker : workers)
    CHECK(wait_for([&] { return store::has_ended(worker); }));
  place.check_store();
  CHECK(json::parse(place.run({"--devices", "all", "--json"}).out)["skipped"].size() == 3);
}

}  // namespace
}  // namespace gemmtune::cli_test
