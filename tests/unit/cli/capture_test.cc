// `gemm-tune capture` of programs that call a fake cuBLAS, and of logs.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../contains.h"
#include "process.h"
#include "tuner/session/suite.h"

namespace gemmtune::cli_test {
namespace {

using nlohmann::json;

// A capture of the test program, which does `modes` one after the other.
struct Capture {
  TestFolder folder;
  std::string output = folder.file("app.json");
  Finished finished;

  explicit Capture(const Arguments& modes, const Variables& variables = {}, bool as_json = true) {
    Arguments arguments = {"capture", "-o", output};
    if (as_json) arguments.push_back("--json");
    arguments.insert(arguments.end(), {"--", GEMMTUNE_CAPTURE_PROGRAM});
    arguments.insert(arguments.end(), modes.begin(), modes.end());
    finished = run(folder, arguments, variables);
  }

  json report() const {
    CAPTURE(finished.err);
    REQUIRE(finished.code == 0);
    return json::parse(finished.out);
  }
  bool wrote() const { return std::filesystem::exists(output); }
  // "key calls", in the order of the suite.
  std::vector<std::string> suite() const {
    CAPTURE(finished.err);
    const auto suite = tuner::load_suite(output);
    REQUIRE(suite.has_value());
    std::vector<std::string> lines;
    for (const tuner::SuiteEntry& entry : suite->entries)
      lines.push_back(key(entry.problem) + " " + std::to_string(entry.count));
    return lines;
  }
};

TEST_CASE("a program's products become a suite") {
  const Capture capture({"linear", "lt", "batched"});
  CHECK(capture.suite() ==
        std::vector<std::string>{
            "bf16/f32/ieee/tnt/8x128x64/epilogue=bias,relu 7", "f32/f32/ieee/tnt/32x256x128 4",
            "f32/f32/ieee/tnt/96x96x64/ld=768,768,96/batch=12/stride=64,64,9216 1"});
  const json report = capture.report();
  CHECK(report["processes"] == 1);
  CHECK(report["calls"] == 12);
  CHECK(report["problems"][0]["workspace_bytes"] == 1 << 20);
  CHECK(report["problems"][1]["beta_calls"] == 1);
  CHECK(report["problems"][1]["call_us"] == nullptr);  // there is no GPU
}

TEST_CASE("calls are timed where there is a driver") {
  const Capture capture({"gpu", "linear", "lt"});
  const json report = capture.report();
  REQUIRE(report["problems"].size() == 2);
  for (const json& problem : report["problems"]) CHECK(problem["call_us"] == 500.0);
  CHECK(report["total_us"] == 11 * 500.0);
}

TEST_CASE("calls under capture are counted and not timed") {
  const json report = Capture({"gpu", "graph"}).report();
  REQUIRE(report["problems"].size() == 1);
  CHECK(report["problems"][0]["calls"] == 4);
  CHECK(report["problems"][0]["graph_calls"] == 3);
  CHECK(report["problems"][0]["call_us"] == 500.0);
}

TEST_CASE("settings of the handle are part of a product") {
  const Capture capture({"tf32"});
  CHECK(capture.suite() == std::vector<std::string>{"f32/f32/tf32/tnt/64x64x64 1"});
  CHECK(capture.report()["problems"][0]["workspace_bytes"] == 4096);
}

TEST_CASE("a product that cuBLAS makes by cuBLASLt is captured once") {
  const Capture capture({"nested"});
  CHECK(capture.suite() == std::vector<std::string>{"f16/f32/ieee/ttt/16x24x8 1"});
  CHECK(capture.report()["calls"] == 1);
}

TEST_CASE("what cannot be tuned is reported") {
  const Capture capture({"f64", "linear"});
  const json report = capture.report();
  REQUIRE(report["others"].size() == 1);
  CHECK(report["others"][0]["reason"] == "f64");
  CHECK(report["others"][0]["calls"] == 1);
  CHECK(capture.suite().size() == 1);
}

TEST_CASE("problems over m are reported as a family") {
  const json report = Capture({"sweep"}).report();
  REQUIRE(report["families"].size() == 1);
  CHECK(report["families"][0]["family"] == "f32/f32/ieee/tnt/Mx512x256");
  CHECK(report["families"][0]["m"] == json::array({1, 2, 3, 4, 5}));
}

TEST_CASE("threads and processes are put together, however they end") {
  const Capture capture({"linear", "threads", "fork", "forget"});
  const json report = capture.report();
  CHECK(report["processes"] == 3);
  const auto suite = capture.suite();
  REQUIRE(suite.size() == 4);
  CHECK(suite[0] == "f32/f32/ieee/tnt/16x32x48 4000");
  CHECK(std::count(suite.begin(), suite.end(), "f32/f32/ieee/tnt/40x40x40 1") == 1);
  CHECK(std::count(suite.begin(), suite.end(), "f32/f32/ieee/tnt/41x41x41 1") == 1);
}

TEST_CASE("processes that a shell starts are captured") {
  const TestFolder folder;
  const std::string program = GEMMTUNE_CAPTURE_PROGRAM;
  const Finished finished =
      run(folder, {"capture", "-o", folder.file("app.json"), "--json", "--", "sh", "-c",
                   program + " linear & " + program + " linear; wait; exec " + program + " lt"});
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  const json report = json::parse(finished.out);
  CHECK(report["processes"] == 3);
  CHECK(report["calls"] == 15);
}

TEST_CASE("a child that asks for no product is no process of the capture") {
  CHECK(Capture({"linear", "idle_child"}).report()["processes"] == 1);
}

TEST_CASE("a child that is forked while the first product is made goes on") {
  const json report = Capture({"fork_meanwhile"}).report();
  CHECK(report["processes"] == 2);
  CHECK(report["calls"] == 2);
}

// capture_host with these arguments writes `said`, and two of its calls are seen.
void check_two_calls_of_host(const Arguments& given, const std::string& said) {
  const TestFolder folder;
  Arguments arguments = {"capture", "-o", folder.file("app.json"),
                         "--json",  "--", GEMMTUNE_CAPTURE_HOST};
  arguments.insert(arguments.end(), given.begin(), given.end());
  const Finished finished = run(folder, arguments);
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(finished.err == said);
  const json report = json::parse(finished.out);
  CHECK(report["problems"][0]["key"] == "f32/f32/ieee/ttt/8x77x8");
  CHECK(report["problems"][0]["calls"] == 2);
}

TEST_CASE("libraries that are loaded where nobody else sees them get their own cuBLAS each") {
  check_two_calls_of_host({GEMMTUNE_CAPTURE_PLUGIN_13, GEMMTUNE_CAPTURE_PLUGIN_12}, "1\n1\n");
}

TEST_CASE("functions that a program looks up by their names are seen, of one cuBLAS") {
  check_two_calls_of_host(
      {GEMMTUNE_FAKE_CUBLAS_13, GEMMTUNE_FAKE_CUBLAS_13, GEMMTUNE_FAKE_CUBLAS_12}, "1\n2\n1\n");
}

TEST_CASE(
    "libraries that are closed and loaded again are seen with the cuBLAS that they have then") {
  check_two_calls_of_host({"--reload", GEMMTUNE_CAPTURE_PLUGIN_12}, "1\n1\n");
}

TEST_CASE("a cuBLAS that is closed and opened again elsewhere is seen in both places") {
  check_two_calls_of_host({"--reload", GEMMTUNE_FAKE_CUBLAS_12}, "1\n1\n");
}

TEST_CASE("a library finds what is behind itself, not behind ours") {
  const Capture capture({"next"}, {}, false);
  CAPTURE(capture.finished.err);
  CHECK(contains(capture.finished.out, "next is 2\n"));
}

TEST_CASE("a full table leaves out what comes later, and says so") {
  const json report = Capture({"many"}).report();
  CHECK(report["problems"].size() == 4096);
  CHECK(report["calls_left_out"] == 5000 - 4096);
}

TEST_CASE("the program's exit code is the command's") {
  const Capture failed({"linear", "exit3"});
  CHECK(failed.finished.code == 3);
  CHECK(failed.wrote());
  const Capture killed({"linear", "kill"});
  CHECK(killed.finished.code == 128 + 9);
  CHECK(killed.suite() == std::vector<std::string>{"f32/f32/ieee/tnt/32x256x128 4"});
  const Capture nothing({"exit5"});
  CHECK(nothing.finished.code == 5);
  CHECK(contains(nothing.finished.err,
                 "no product was seen: no process called cuBLAS or cuBLASLt. Programs that hold"));
  CHECK_FALSE(nothing.wrote());
}

TEST_CASE("signals are the program's, and what it did until then is captured") {
  for (const bool to_program : {false, true}) {
    const TestFolder folder;
    const std::string output = folder.file("app.json");
    const std::string script =
        "echo $$ >&2; exec " + std::string(GEMMTUNE_CAPTURE_PROGRAM) + " linear wait";
    Process process(folder, {"capture", "-o", output, "--", "sh", "-c", script});
    REQUIRE(wait_for([&] { return contains(process.err_so_far(), "waiting"); }));
    process.signal(SIGINT);  // a terminal sends it to the program too
    if (to_program) {
      kill(std::stoi(process.err_so_far()), SIGTERM);
    } else {
      process.signal(SIGTERM);
    }
    CHECK(process.wait().code == 128 + SIGTERM);
    CHECK(tuner::load_suite(output)->entries.size() == 1);
  }
}

TEST_CASE(
    "signals by which programs are told to save their state are handed on, and end no capture") {
  for (const int number : {SIGUSR1, SIGUSR2}) {
    const TestFolder folder;
    const std::string output = folder.file("app.json");
    Process process(folder, {"capture", "-o", output, "--", "sh", "-c",
                             "trap 'echo saved >&2' USR1 USR2; " GEMMTUNE_CAPTURE_PROGRAM
                             " linear; echo ready >&2; for i in $(seq 600); do sleep 0.1; done"});
    REQUIRE(wait_for([&] { return contains(process.err_so_far(), "ready"); }));
    process.signal(number);
    CHECK(wait_for([&] { return contains(process.err_so_far(), "saved") || !process.running(); }));
    process.signal(SIGTERM);
    CHECK(process.wait().code == 128 + SIGTERM);
    CHECK(tuner::load_suite(output).has_value());
  }
}

TEST_CASE("a signal that comes when the program ends loses nothing of it") {
  const TestFolder folder;
  const std::string output = folder.file("app.json");
  // While gemm-tune stands still, so that it finds two signals and the program's end together.
  const Finished finished =
      run(folder, {"capture", "-o", output, "--", "sh", "-c",
                   GEMMTUNE_CAPTURE_PROGRAM
                   " linear; kill -s STOP $PPID; kill -s USR1 $PPID; kill -s TERM $PPID; "
                   "(sleep 0.5; kill -s CONT $PPID) & exit 3"});
  CAPTURE(finished.err);
  CHECK(finished.code == 3);
  CHECK(tuner::load_suite(output).has_value());
}

TEST_CASE("the program runs as it does alone, with what is preloaded already") {
  const Capture capture({"linear", "say"}, {{"LD_PRELOAD", GEMMTUNE_CAPTURE_PLUGIN_13}}, false);
  CAPTURE(capture.finished.err);
  CHECK(capture.finished.code == 0);
  CHECK(contains(capture.finished.out, "4 products\n"));
  CHECK(contains(capture.finished.out, "app.json: 1 problem, 4 calls in 1 process\n"));
}

TEST_CASE("where no file can be made, the program runs and nothing is captured") {
  const std::string program = std::string(GEMMTUNE_CAPTURE_PROGRAM) + " linear say";
  for (const auto& [script, why] :
       {std::pair("GEMM_TUNE_CAPTURE_DIR=/nowhere ", "no file can be made in /nowhere"),
        std::pair("ulimit -f 100; ", "File too large")}) {
    const TestFolder folder;
    const Finished finished =
        run(folder, {"capture", "-o", folder.file("app.json"), "--", "sh", "-c", script + program});
    CAPTURE(finished.err);
    CHECK(finished.code == 1);
    CHECK(contains(finished.out, "4 products\n"));
    CHECK(contains(finished.err, why));
    CHECK(contains(finished.err, "no product was seen"));
    CHECK_FALSE(std::filesystem::exists(folder.file("app.json")));
  }
}

TEST_CASE("a program without products is no suite") {
  const TestFolder folder;
  const Finished finished = run(folder, {"capture", "-o", folder.file("a.json"), "--", "true"});
  CHECK(finished.code == 1);
  CHECK(contains(finished.err, "CUBLASLT_LOG_LEVEL=2"));
  CHECK(folder.content().empty());
  const Capture failed({"fail"});
  CHECK(failed.finished.code == 1);
  CHECK(contains(failed.finished.err, "all of them failed"));
  CHECK_FALSE(failed.wrote());
  const Capture only_f64({"f64"});
  CHECK(only_f64.finished.code == 1);
  CHECK_FALSE(only_f64.wrote());
}

TEST_CASE("a log becomes a suite") {
  const TestFolder folder;
  const std::string log = GEMMTUNE_SOURCE_DIR "/tests/unit/app/capture/cublaslt.log";
  const Finished finished =
      run(folder, {"capture", "--from-log", log, log, "-o", folder.file("app.json"), "--json"});
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  const json report = json::parse(finished.out);
  CHECK(report["problems"].size() == 3);
  CHECK(report["calls"] == 10);
  CHECK(report["unread_lines"] == 2);
  CHECK(tuner::load_suite(folder.file("app.json"))->entries.size() == 3);
}

// What a shell says of `command`, where `gemm-tune` is that of an installation with a blank in its
// path.
Finished run_from_blanks(const TestFolder& folder, const std::string& command) {
  namespace fs = std::filesystem;
  const fs::path place = folder.path() / "my programs";
  fs::create_directories(place / "bin");
  fs::create_directories(place / "lib");
  fs::copy(GEMMTUNE_BINARY_DIR "/bin/gemm-tune", place / "bin");
  fs::copy(GEMMTUNE_BINARY_DIR "/lib/libgemmtune_cublas.so", place / "lib");
  return run(folder, {"capture", "-o", folder.file("unused.json"), "--", "sh", "-c",
                      "unset LD_PRELOAD; cd '" + folder.path().string() + "' && '" +
                          (place / "bin/gemm-tune").string() + "' " + command});
}

TEST_CASE("programs are captured, and attached to, from a path with a blank") {
  const TestFolder folder;
  const std::string program = GEMMTUNE_CAPTURE_PROGRAM;
  const Finished captured =
      run_from_blanks(folder, "capture -o app.json -- " + program + " linear");
  CAPTURE(captured.err);
  CHECK(contains(captured.out, "app.json: 1 problem, 4 calls in 1 process\n"));
  const TestFolder other;
  const Finished attached = run_from_blanks(other, "run --attach .");
  CAPTURE(attached.err);
  CHECK(contains(attached.out, "my programs/lib/libgemmtune_cublas.so"));
  const TestFolder third;
  const Finished refused =
      run_from_blanks(third,
                      "--version && mkdir 'a b' && TMPDIR='a b' 'my programs/bin/gemm-tune' "
                      "capture -o app.json -- true");
  CHECK(contains(refused.err, "so has the folder for temporary files; set TMPDIR to another"));
}

TEST_CASE("a limit on files' sizes is an error like a full disk") {
  const TestFolder folder;
  const Finished finished =
      run(folder, {"capture", "-o", folder.file("unused.json"), "--", "sh", "-c",
                   "unset LD_PRELOAD; cd '" + folder.path().string() +
                       "' && mkdir out && ulimit -f 4; " GEMMTUNE_BINARY_DIR
                       "/bin/gemm-tune emit --strategy naive --shape 64x64x64 --arch sm_80 -o "
                       "out/kernel.cu; echo "
                       "ended with $?; ls -A out; kill -s XFSZ $$"});
  CAPTURE(finished.err);
  CHECK(contains(finished.out, "ended with 1\n"));
  CHECK_FALSE(contains(finished.out, ".gemm-tune"));
  CHECK(contains(finished.err, "cannot write 'out/kernel.cu': File too large"));
  CHECK(finished.code == 128 + SIGXFSZ);  // to the program, the signal is what it is
}

TEST_CASE("a TMPDIR that is relative holds for programs that change their folder") {
  const TestFolder folder;
  const std::string program = GEMMTUNE_CAPTURE_PROGRAM;
  const Finished finished =
      run(folder, {"capture", "-o", folder.file("unused.json"), "--", "sh", "-c",
                   "unset LD_PRELOAD; cd '" + folder.path().string() +
                       "' && TMPDIR=. " GEMMTUNE_BINARY_DIR
                       "/bin/gemm-tune capture -o app.json -- sh -c 'cd / && " +
                       program + " linear'"});
  CAPTURE(finished.err);
  CHECK(contains(finished.out, "app.json: 1 problem, 4 calls in 1 process\n"));
}

TEST_CASE("a log that cannot be read to its end is an error, whatever it has") {
  const TestFolder folder;
  const std::string unreadable = "/proc/self/mem";  // opens, and address 0 has no page
  const Finished finished =
      run(folder, {"capture", "--from-log", unreadable, "-o", folder.file("app.json")});
  CHECK(finished.code != 0);
  CHECK(contains(finished.err, "cannot read '/proc/self/mem': Input/output error"));
  CHECK(folder.content().empty());
}

TEST_CASE("where the suite cannot be written after the program ran, its counts are kept") {
  const TestFolder folder;
  std::filesystem::create_directory(folder.file("gone"));
  const std::string script =
      std::string(GEMMTUNE_CAPTURE_PROGRAM) + " linear; rmdir '" + folder.file("gone") + "'";
  const Finished finished =
      run(folder, {"capture", "-o", folder.file("gone/app.json"), "--", "sh", "-c", script},
          {{"TMPDIR", folder.path().string()}});
  CAPTURE(finished.err);
  CHECK(finished.code != 0);
  const size_t kept = finished.err.find(folder.file("gemm-tune-"));
  REQUIRE(kept != std::string::npos);
  const std::string counts = finished.err.substr(kept, finished.err.find('\'', kept) - kept);
  const std::string output = folder.file("app.json");
  REQUIRE(run(folder, {"capture", "--from-folder", counts, "-o", output}).code == 0);
  const auto suite = tuner::load_suite(output);
  REQUIRE(suite.has_value());
  REQUIRE(suite->entries.size() == 1);
  CHECK(suite->entries[0].count == 4);
}

// Refused with one line that holds `part`, with nothing written.
void refuse(const TestFolder& folder, const Arguments& arguments, const std::string& part,
            const Variables& variables = {}) {
  const auto before = folder.content();
  const Finished finished = run(folder, arguments, variables);
  CAPTURE(finished.err);
  CHECK(finished.code == 2);
  CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
  CHECK(contains(finished.err, part));
  CHECK(folder.content() == before);
}

TEST_CASE("bad input is refused, with what to do") {
  const TestFolder folder;
  const std::string output = folder.file("app.json");
  refuse(folder, {"capture", "-o", output}, "behind --");
  refuse(folder, {"capture", "--", "true"}, "--output is required");
  refuse(folder, {"capture", "-o", output, "--", "no-such-program"}, "cannot start");
  refuse(folder, {"capture", "-o", folder.file("none/app.json"), "--", "true"},
         "there is no folder");
  refuse(folder, {"capture", "-o", "-", "--", "true"}, "name a file");
  refuse(folder, {"capture", "-o", output, "--from-log", folder.file("none.log")}, "cannot read");
  refuse(folder, {"capture", "-o", output, "--from-log", folder.path().string()}, "is a folder");
  refuse(folder, {"capture", "-o", output, "--from-log", "a.log", "--", "true"}, "not both");
  const std::string log = folder.write("app.log", "a log");
  refuse(folder, {"capture", "-o", log, "--from-log", log}, "is read by this command");
  refuse(folder, {"capture", "-o", output, "--shape", "1x1x1", "--", "true"}, "unknown option");
  refuse(folder, {"capture", "-o", output, "python", "train.py", "--steps", "3"},
         "unknown option '--steps'; the program to run goes behind --");
  refuse(folder, {"capture", "-o", output, "--", "true"}, "TMPDIR",
         {{"TMPDIR", folder.file("none")}});
}

TEST_CASE("an existing suite stays as it is when a capture fails") {
  const TestFolder folder;
  const std::string output = folder.write("app.json", "precious");
  CHECK(run(folder, {"capture", "-o", output, "--", "true"}).code == 1);
  std::ifstream in(output);
  std::string text;
  in >> text;
  CHECK(text == "precious");
}

}  // namespace
}  // namespace gemmtune::cli_test
