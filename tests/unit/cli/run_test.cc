// `gemm-tune run` of programs that call a fake cuBLAS on a fake GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../contains.h"
#include "dispatch/pack_file.h"
#include "library_fixture.h"
#include "process.h"
#include "tuner/session/suite.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

// A database that knows a kernel for 24 x 24 x 24 in f32, and a cache that has it.
struct Tuned {
  TestFolder folder;
  Variables variables = {{"GEMM_TUNE_DB", folder.file("tuned.db")},
                         {"GEMM_TUNE_CACHE_DIR", folder.file("cache")},
                         {"GEMM_TUNE_NVRTC", "/nowhere"}};

  Tuned() {
    const Problem problem = make_problem({24, 24, 24});
    const dispatch_test::Tuned result = dispatch_test::won_by_kernel(problem);
    dispatch_test::write_database(folder.file("tuned.db"), {result});
    dispatch_test::write_cache(folder.file("cache"), {*result.kernel});
  }

  Finished run(const Arguments& options, const Arguments& modes, const Variables& more = {}) const {
    Arguments arguments = {"run"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", GEMMTUNE_RUN_PROGRAM});
    arguments.insert(arguments.end(), modes.begin(), modes.end());
    Variables all = variables;
    for (const auto& [name, value] : more) all[name] = value;
    return cli_test::run(folder, arguments, all);
  }
  // Without those that SQLite makes for readers.
  std::vector<std::string> files() const {
    std::vector<std::string> names = folder.content();
    std::erase_if(names, [](const std::string& name) {
      return name.ends_with("-shm") || name.ends_with("-wal");
    });
    return names;
  }
  json report(const Arguments& modes, Arguments options = {}) const {
    options.push_back("--json");
    const Finished finished = run(options, modes);
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    return json::parse(finished.out);
  }
};

TEST_CASE_FIXTURE(Tuned, "a tuned product runs on its kernel, others on cuBLAS") {
  const json report = this->report({"tuned3", "untuned", "f64"});
  CHECK(report["calls"] == 5);
  CHECK(report["own_calls"] == 2);
  CHECK(report["processes"] == 1);
  REQUIRE(report["problems"].size() == 2);
  const json& own = report["problems"][0];
  CHECK(own["key"] == "f32/f32/ieee/ttt/24x24x24");
  CHECK(own["own"] == true);
  CHECK(own["what"] == "naive tile_m=8 tile_n=32, measured on this device");
  CHECK(own["own_calls"] == 2);  // the third is for comparison
  CHECK(own["handed_on"]["timed"] == 1);
  CHECK(own["tuned_us"] == 10.0);
  CHECK(own["tuned_cublaslt_us"] == 17.0);
  CHECK(own["saved_us"] == nullptr);
  CHECK(report["problems"][1]["what"] == "not tuned");
  CHECK(report["others"] == json::parse(R"([{"reason": "f64", "calls": 1}])"));
}

TEST_CASE_FIXTURE(Tuned, "a function that is looked up by its name is taken too") {
  const json alone = report({"tuned1"});
  const json report_of_both = report({"tuned1", "named"});
  CHECK(report_of_both["own_calls"] == alone["own_calls"].get<int>() + 1);
  CHECK(report_of_both["problems"].size() == 1);
}

TEST_CASE_FIXTURE(Tuned, "stdout is the program's, the report goes to stderr and to the file") {
  const std::string file = folder.file("report.json");
  const Finished finished = run({"-o", file}, {"tuned2", "say"});
  CAPTURE(finished.err);
  CHECK(finished.code == 0);
  CHECK(finished.out == "2 launches\n");
  CHECK(contains(finished.err, "2 of 2 products on own kernels"));
  std::ifstream in(file);
  CHECK(json::parse(in)["own_calls"] == 2);
  CHECK(run({"-q"}, {"tuned1"}).err.empty());
}

TEST_CASE_FIXTURE(Tuned,
                  "where the report cannot be written after the program ran, its counts are kept") {
  std::filesystem::create_directory(folder.file("gone"));
  const std::string script =
      std::string(GEMMTUNE_RUN_PROGRAM) + " tuned2; rmdir '" + folder.file("gone") + "'";
  const Finished finished = cli_test::run(
      folder, {"run", "-o", folder.file("gone/report.json"), "--", "sh", "-c", script}, variables);
  CAPTURE(finished.err);
  CHECK(finished.code != 0);
  const size_t kept = finished.err.find(folder.file("gemm-tune-"));
  REQUIRE(kept != std::string::npos);
  const std::string counts = finished.err.substr(kept, finished.err.find('\'', kept) - kept);
  const Finished report = cli_test::run(folder, {"run", "--json", "--report", counts}, variables);
  REQUIRE(report.code == 0);
  CHECK(json::parse(report.out)["own_calls"] == 2);
}

TEST_CASE_FIXTURE(Tuned, "both sides are timed, unless they are not to be") {
  const json compared = report({"tuned24"})["problems"][0];
  CHECK(compared["own_calls"] == 18);
  CHECK(compared["handed_on"]["timed"] == 6);
  CHECK(compared["own_time"]["samples"] >= 5);  // the last one may come too late
  CHECK(compared["own_time"]["median_us"] == 10.0);
  CHECK(compared["cublas_time"]["samples"] == 6);
  CHECK(compared["saved_us"] == -180.0);  // the fake's takes no time
  CHECK(report({"tuned64"})["problems"][0]["handed_on"]["slower"] > 20);
  const json alone = report({"tuned64"}, {"--no-compare"})["problems"][0];
  CHECK(alone["own_calls"] == 64);
  CHECK(alone["own_time"] == nullptr);
}

TEST_CASE_FIXTURE(Tuned, "the caller's algorithm is replaced as asked") {
  for (const auto& [override, first, other] :
       {std::tuple("first", 1, 0), std::tuple("never", 0, 0), std::tuple("always", 1, 1)}) {
    CHECK(report({"first"}, {"--override", override})["own_calls"] == first);
    CHECK(report({"other"}, {"--override", override})["own_calls"] == other);
  }
  const Finished finished = run({"--json"}, {"other"}, {{"GEMM_TUNE_OVERRIDE", "always"}});
  CHECK(json::parse(finished.out)["own_calls"] == 1);
}

TEST_CASE_FIXTURE(Tuned, "f32 products are computed in a mode that is as exact, or none") {
  // Nothing is tuned in that mode: the kernel of f32 runs.
  CHECK(report({"tuned1"}, {"--f32", "3xtf32"})["own_calls"] == 1);
  for (const auto& [options, variables, source] :
       {std::tuple(Arguments{"--f32", "tf32"}, Variables{}, "--f32: "),
        std::tuple(Arguments{}, Variables{{"GEMM_TUNE_F32", "tf32"}}, "GEMM_TUNE_F32: ")}) {
    const Finished finished = run(options, {"tuned1"}, variables);
    CHECK(finished.code == 2);
    CHECK(contains(finished.err, source + std::string("unknown split mode 'tf32'")));
    CHECK(contains(finished.err, "3xtf32, bf16x6, bf16x9"));
  }
}

TEST_CASE_FIXTURE(Tuned, "under capture a kernel runs if it was loaded before") {
  CHECK(report({"graph"})["own_calls"] == 0);
  const json after = report({"tuned1", "graph"})["problems"][0];
  CHECK(after["own_calls"] == 2);
  CHECK(after["own_graph_calls"] == 1);
}

TEST_CASE_FIXTURE(Tuned, "a failure of ours is cuBLAS's call and a line on stderr") {
  const Finished finished = run({"--json"}, {"tuned1", "break", "tuned2"});
  const json report = json::parse(finished.out);
  CHECK(finished.code == 0);
  CHECK(report["own_calls"] == 1);
  CHECK(report["problems"][0]["handed_on"]["failure"] == 2);
  CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
  CHECK(contains(finished.err, "cuBLAS takes its place"));
}

TEST_CASE_FIXTURE(Tuned, "what is not tuned becomes a suite") {
  const std::string missing = folder.file("missing.json");
  const Finished finished = run({"--missing", missing}, {"tuned1", "untuned", "f64"});
  CHECK(finished.code == 0);
  const auto suite = tuner::load_suite(missing);
  REQUIRE(suite.has_value());
  REQUIRE(suite->entries.size() == 1);
  CHECK(key(suite->entries[0].problem) == "f32/f32/ieee/ttt/24x25x24");
  CHECK(contains(finished.err, "gemm-tune tune --suite"));
  const std::string none = folder.file("none.json");
  CHECK(run({"--missing", none}, {"tuned1"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(none));
}

TEST_CASE_FIXTURE(Tuned, "the program's end is the command's, and what it did is reported") {
  const std::string file = folder.file("report.json");
  for (const auto& [mode, code] : {std::pair("exit7", 7), std::pair("kill", 128 + SIGKILL)}) {
    const Finished finished = run({"-o", file}, {"tuned2", mode});
    CHECK(finished.code == code);
    std::ifstream in(file);
    const json report = json::parse(in);
    CHECK(report["exit_code"] == code);
    CHECK(report["own_calls"] == 2);
  }
  const json forked = report({"tuned1", "fork"});
  CHECK(forked["processes"] == 2);
  CHECK(forked["calls"] == 2);
}

TEST_CASE_FIXTURE(Tuned, "signals are the program's") {
  Process process(folder, {"run", "--", GEMMTUNE_RUN_PROGRAM, "tuned1", "wait"}, variables);
  REQUIRE(wait_for([&] { return contains(process.err_so_far(), "waiting"); }));
  process.signal(SIGINT);
  process.signal(SIGTERM);
  const Finished finished = process.wait();
  CHECK(finished.code == 128 + SIGTERM);
  CHECK(contains(finished.err, "1 of 1 products on own kernels"));
}

TEST_CASE_FIXTURE(Tuned, "without a database of its own the shipped results serve") {
  variables.erase("GEMM_TUNE_DB");
  const json report = this->report({"tuned1"});
  CHECK(report["own_calls"] == 0);
  CHECK(report["problems"][0]["what"] == "not tuned");
}

TEST_CASE_FIXTURE(Tuned, "a pack serves in place of database, cache and NVRTC") {
  const std::string pack = folder.file("app.pack");
  dispatch_test::write_pack(pack, {dispatch_test::won_by_kernel(make_problem({24, 24, 24}))});
  variables.erase("GEMM_TUNE_DB");
  variables.erase("GEMM_TUNE_CACHE_DIR");
  const json report = this->report({"tuned3", "untuned"}, {"--pack", pack, "--no-compare"});
  CHECK(report["own_calls"] == 3);
  CHECK(report["problems"][1]["what"] == "not tuned");
  const Finished both = run({"--pack", pack, "--db", folder.file("tuned.db")}, {"tuned1"});
  CHECK(both.code == 2);
  CHECK(contains(both.err, "either --pack or --db"));
  const Finished none = run({"--pack", folder.file("none.pack")}, {"tuned1"});
  CHECK(none.code != 0);
  CHECK(contains(none.err, "none.pack"));
  const Finished other = run({"--pack", folder.file("tuned.db")}, {"tuned1"});
  CHECK(other.code == 2);
}

TEST_CASE_FIXTURE(Tuned, "a pack without a kernel for this GPU is said to be one") {
  dispatch::PackWriter writer("0.1.0");
  store::Winner winner;
  winner.problem = "f32/f32/ieee/ttt/24x24x24";
  winner.arch = "sm_120";
  winner.vendor = store::WinningAlgorithm{"rank=0", "130000", 10};
  writer.add(winner);
  const std::string pack = folder.write("other.pack", writer.finish());
  const Finished finished = run({"--pack", pack}, {"tuned1"});
  CHECK(finished.code == 0);
  CHECK(contains(finished.err, "other.pack has no kernel that runs on this GPU"));
}

TEST_CASE_FIXTURE(Tuned, "a program without products is said to be one, and its end counts") {
  const Finished finished = cli_test::run(folder, {"run", "--", "sh", "-c", "exit 3"}, variables);
  CHECK(finished.code == 3);
  CHECK(contains(finished.err, "no process of the program called cuBLAS, or all of its products"));
}

TEST_CASE_FIXTURE(Tuned, "a process that runs is given settings, and reported of while it runs") {
  const std::string counts = folder.file("counts");
  std::filesystem::create_directory(counts);
  const Finished given =
      cli_test::run(folder, {"run", "--attach", counts, "--override", "never"}, variables);
  REQUIRE(given.code == 0);
  const json attach = json::parse(given.out);
  CHECK(std::filesystem::exists(attach["library"].get<std::string>()));
  CHECK(attach["settings"]["GEMM_TUNE_RUN_DIR"] == counts);
  CHECK(attach["settings"]["GEMM_TUNE_RUN_DB"] == folder.file("tuned.db"));
  CHECK(attach["settings"]["GEMM_TUNE_OVERRIDE"] == "never");
  CHECK_FALSE(attach["settings"].contains("LD_PRELOAD"));
  const Finished empty = cli_test::run(folder, {"run", "--report", counts, "--json"}, variables);
  CHECK(empty.code == 0);
  CHECK(json::parse(empty.out)["calls"] == 0);
  // A process that was given them has counted what follows.
  std::string settings;
  for (const auto& [name, value] : attach["settings"].items())
    settings += name + "='" + value.get<std::string>() + "' ";
  const std::string library = attach["library"];
  const std::string command = settings + "LD_PRELOAD=" + library + " " + GEMMTUNE_RUN_PROGRAM;
  REQUIRE(std::system((command + " tuned2 untuned").c_str()) == 0);
  const json report =
      json::parse(cli_test::run(folder, {"run", "--report", counts, "--json"}, variables).out);
  CHECK(report["calls"] == 3);
  CHECK(report["own_calls"] == 2);
  const Finished text = cli_test::run(folder, {"run", "--report", counts}, variables);
  CHECK(contains(text.out, "2 of 3 products on own kernels"));
  const std::string missing = folder.file("missing.json");
  CHECK(cli_test::run(folder, {"run", "--report", counts, "--missing", missing}, variables).code ==
        0);
  CHECK(tuner::load_suite(missing)->entries.size() == 1);
  const std::string suite = folder.file("suite.json");
  const Finished captured =
      cli_test::run(folder, {"capture", "--from-folder", counts, "-o", suite, "--json"}, variables);
  CHECK(json::parse(captured.out)["calls"] == 3);
  CHECK(tuner::load_suite(suite)->entries.size() == 2);
  CHECK(cli_test::run(folder, {"run", "--attach", counts, "--", "true"}, variables).code == 2);
  CHECK(cli_test::run(folder, {"run", "--report", folder.file("none")}, variables).code == 2);
}

TEST_CASE_FIXTURE(Tuned, "bad input is refused, with what to do") {
  const auto refuse = [&](const Arguments& arguments, const std::string& part,
                          const Variables& more = {}) {
    Variables all = variables;
    for (const auto& [name, value] : more) all[name] = value;
    const auto before = files();
    const Finished finished = cli_test::run(folder, arguments, all);
    CAPTURE(finished.err);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
    CHECK(contains(finished.err, part));
    CHECK(files() == before);
  };
  refuse({"run"}, "behind --");
  refuse({"run", "--", "no-such-program"}, "cannot start");
  refuse({"run", "--override", "maybe", "--", "true"}, "--override is 'maybe'");
  refuse({"run", "--", "true"}, "GEMM_TUNE_OVERRIDE is 'x'", {{"GEMM_TUNE_OVERRIDE", "x"}});
  refuse({"run", "--", "true"}, "GEMM_TUNE_ON_MISS is 'x'", {{"GEMM_TUNE_ON_MISS", "x"}});
  refuse({"run", "--on-miss", "off", "--missing", "a.json", "--", "true"}, "not both");
  refuse({"run", "-o", folder.file("none/a.json"), "--", "true"}, "there is no folder");
  refuse({"run", "--missing", "-", "--", "true"}, "name a file");
  refuse({"run", "python", "train.py", "--steps", "3"},
         "unknown option '--steps'; the program to run goes behind --");
}

}  // namespace
TEST_CASE("an argument of the program may be empty, unlike an option's value") {
  const TestFolder folder;
  CHECK(run(folder, {"run", "--", "test", "-z", ""}).code == 0);
  CHECK(run(folder, {"run", "--db", "", "--", "test", "-z", ""}).code == 2);
}

}  // namespace gemmtune::cli_test
