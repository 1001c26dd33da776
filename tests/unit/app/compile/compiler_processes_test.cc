#include "app/compile/compiler_processes.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/compile/compile_server.h"

namespace gemmtune::app {
namespace {

const CompilerProgram kFake{GEMMTUNE_FAKE_COMPILER, {"fake-compiler"}};

jit::CompileRequest request(const std::string& text, const std::string& name = "kernel") {
  jit::CompileRequest out;
  out.source.name = name;
  out.source.text = text;
  return out;
}

// The number of the process that made a kernel.
std::string process_of(CompilerProcesses& processes, const std::string& text = "") {
  const auto result = processes.compile(request(text));
  REQUIRE(result);
  REQUIRE(*result);
  return (*result)->warnings.at(0);
}

bool runs(const std::string& process) {
  return ::kill(std::stoi(process), 0) == 0 || errno != ESRCH;
}

TEST_CASE("one after the other is compiled by the same process") {
  CompilerProcesses processes(kFake, {"any", 1});
  const std::string first = process_of(processes);
  CHECK(first != std::to_string(::getpid()));
  for (int i = 0; i < 10; ++i) CHECK(process_of(processes) == first);
}

TEST_CASE("threads get their own results") {
  constexpr int kThreads = 8;
  CompilerProcesses processes(kFake, {"any", 1});
  std::array<std::set<std::string>, kThreads> made_by;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string name = std::to_string(t) + "/" + std::to_string(i);
          const auto result = processes.compile(request("", name));
          CHECK((result && *result && (*result)->name == name));
          if (result && *result) made_by[static_cast<size_t>(t)].insert((*result)->warnings.at(0));
        }
      });
    }
  }
  std::set<std::string> all;
  for (const auto& some : made_by) all.insert(some.begin(), some.end());
  CHECK(all.size() <= kThreads);
}

TEST_CASE("a failure to compile is the compiler's, and the process goes on") {
  CompilerProcesses processes(kFake, {"any", 1});
  const std::string first = process_of(processes);
  const auto result = processes.compile(request("fail"));
  REQUIRE(result);
  REQUIRE_FALSE(*result);
  CHECK(result->error().phase == jit::CompilePhase::front_end);
  CHECK(result->error().first_error == "no good");
  CHECK(process_of(processes) == first);
}

TEST_CASE("a source that no process survives is a failure that says how they ended") {
  CompilerProcesses processes(kFake, {"any", 1});
  const std::string first = process_of(processes);
  const auto aborted = processes.compile(request("signal " + std::to_string(SIGABRT)));
  REQUIRE(aborted);
  REQUIRE_FALSE(*aborted);
  CHECK(aborted->error().first_error == "the process that compiled ended: signal 6 (Aborted)");
  CHECK(aborted->error().phase == jit::CompilePhase::output);
  const auto ended = processes.compile(request("end"));
  REQUIRE(ended);
  REQUIRE_FALSE(*ended);
  CHECK(ended->error().first_error == "the process that compiled ended: exit code 3");
  CHECK(ended->error().phase == jit::CompilePhase::output);
  CHECK(process_of(processes) != first);
  CHECK(processes.why_not().empty());
}

TEST_CASE("a crash is a failure of the source, a kill is none") {
  CompilerProcesses processes(kFake, {"any", 1});
  const auto phase_of = [&](int signal) {
    const auto result = processes.compile(request("signal " + std::to_string(signal)));
    REQUIRE(result);
    REQUIRE_FALSE(*result);
    return result->error().phase;
  };
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    CHECK(phase_of(signal) == jit::CompilePhase::output);
  for (const int signal : {SIGKILL, SIGTERM, SIGHUP})
    CHECK(phase_of(signal) == jit::CompilePhase::process);
  CHECK(processes.why_not().empty());
}

// A file that the first process which compiles with it removes.
std::string mark() {
  std::string path = "/tmp/gemm-tune-compiler-XXXXXX";
  const int file = ::mkstemp(path.data());
  REQUIRE(file >= 0);
  ::close(file);
  return path;
}

TEST_CASE("where a process crashed by chance, another one compiles") {
  CompilerProcesses processes(kFake, {"any", 1});
  const auto result = processes.compile(request("once " + std::to_string(SIGSEGV), mark()));
  REQUIRE(result);
  CHECK(*result);
}

TEST_CASE("a source whose process was killed is compiled when it is asked for again") {
  CompilerProcesses processes(kFake, {"any", 1});
  const jit::CompileRequest killed = request("once " + std::to_string(SIGKILL), mark());
  const auto first = processes.compile(killed);
  REQUIRE(first);
  REQUIRE_FALSE(*first);
  CHECK(first->error().phase == jit::CompilePhase::process);
  const auto second = processes.compile(killed);
  REQUIRE(second);
  CHECK(*second);
}

TEST_CASE("without processes there is no result, and a reason") {
  const auto why_not = [](const CompilerProgram& program, const std::string& library) {
    CompilerProcesses processes(program, {library, 1});
    CHECK_FALSE(processes.compile(request("")));
    const std::string why = processes.why_not();
    CHECK_FALSE(processes.compile(request("")));
    return why;
  };
  CHECK(why_not({"/nowhere/program", {"program"}}, "any") ==
        "cannot start '/nowhere/program': No such file or directory");
  CHECK(why_not(kFake, "missing") == "missing: no such file");
  CHECK(why_not(kFake, "broken") == kFake.path + " ended: exit code 5");
}

TEST_CASE("processes end with the object") {
  std::string process;
  {
    CompilerProcesses processes(kFake, {"any", 1});
    process = process_of(processes);
    CHECK(runs(process));
  }
  CHECK_FALSE(runs(process));
}

TEST_CASE("no other NVRTC than the command's is loaded") {
  const auto missing = load_compile_function({"/nowhere/libnvrtc.so", 1});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("/nowhere/libnvrtc.so") != std::string::npos);
}

}  // namespace
}  // namespace gemmtune::app
