#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../test_folder.h"

namespace gemmtune::cli_test {

struct Finished {
  int code = -1;  // exit code, or minus the signal
  std::string out;
  std::string err;
};

using Arguments = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

// A running gemm-tune. Its environment holds PATH and `variables` only, so nothing of the machine's
// own settings reaches it; HOME and TMPDIR are `folder`, and it sees no GPU.
class Process {
 public:
  // `err`: where its stderr goes; empty: to where Finished::err and err_so_far() come from.
  Process(const TestFolder& folder, const Arguments& arguments, const Variables& variables = {},
          const std::string& err = "");
  ~Process();  // kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Finished wait();
  void signal(int number) const;
  pid_t id() const { return pid_; }
  // What it has written to stderr so far.
  std::string err_so_far() const;
  bool running();

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

// Runs gemm-tune to its end.
Finished run(const TestFolder& folder, const Arguments& arguments, const Variables& variables = {});

// Runs gemm-tune to its end with a terminal as its stderr; what it wrote there.
std::string err_on_terminal(const TestFolder& folder, const Arguments& arguments,
                            const Variables& variables = {});

// Waits until `condition` holds; false after 60 s.
template <class Condition>
bool wait_for(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// The variables that let gemm-tune find this machine's NVRTC (GEMM_TUNE_NVRTC, CUDA_HOME ...).
Variables compiler_variables();

// Ends the test process as skipped if gemm-tune finds no NVRTC on this machine.
void require_compiler();

}  // namespace gemmtune::cli_test
