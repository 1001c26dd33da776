#include "app/compile/compiler_processes.h"

#include <utility>

#include "app/common/child_process.h"

namespace gemmtune::app {
namespace {

// Of a source whose process crashes, perhaps for what it compiled before. Who was killed is for the
// caller (jit/compile_again.h).
constexpr int kAttempts = 2;

jit::CompileFailure failure_of_process(const ProcessEnd& end) {
  const std::string what = "the process that compiled ended: " + end.how;
  return {end.by_itself ? jit::CompilePhase::output : jit::CompilePhase::process, what, what};
}

}  // namespace

class CompilerProcesses::Process {
 public:
  static Expected<std::unique_ptr<Process>> start(const CompilerProgram& program,
                                                  const CompilerSetup& setup) {
    auto started = ChildProcess::start(program.path, program.arguments);
    if (!started) return tl::unexpected(started.error());
    std::unique_ptr<Process> process(new Process(*std::move(started)));
    const auto answer = process->ask(encode(setup));
    const auto failure = answer ? decode_answer(*answer) : std::nullopt;
    if (!failure)
      return make_error(ErrorKind::failed, program.path + " ended: " + process->end().how);
    if (!failure->empty()) return make_error(ErrorKind::failed, *failure);
    return process;
  }

  // Nothing if the process has ended, or answers what is no result.
  std::optional<jit::CompileResult> compile(const jit::CompileRequest& request) {
    const auto answer = ask(encode(request));
    return answer ? decode_result(*answer) : std::nullopt;
  }

  // Ends it, if it has not ended: how it did.
  ProcessEnd end() {
    started_.channel.close();
    return started_.process.wait();
  }

 private:
  explicit Process(ChildProcess::Started started) : started_(std::move(started)) {}

  std::optional<std::string> ask(const std::string& message) {
    const int channel = started_.channel.get();
    if (!send_frame(channel, message)) return std::nullopt;
    return receive_frame(channel);
  }

  ChildProcess::Started started_;
};

CompilerProcesses::CompilerProcesses(CompilerProgram program, CompilerSetup setup)
    : program_(std::move(program)), setup_(std::move(setup)) {}

CompilerProcesses::~CompilerProcesses() = default;

std::optional<jit::CompileResult> CompilerProcesses::compile(const jit::CompileRequest& request) {
  ProcessEnd end;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto process = take();
    if (!process) return std::nullopt;
    auto result = process->compile(request);
    if (result) {
      give_back(std::move(process));
      return result;
    }
    end = process->end();
    if (!end.by_itself) break;
  }
  return jit::CompileResult(tl::unexpect, failure_of_process(end));
}

std::string CompilerProcesses::why_not() const {
  const std::lock_guard lock(mutex_);
  return why_not_ ? why_not_->message : "";
}

// Null if there is none and none can be started.
std::unique_ptr<CompilerProcesses::Process> CompilerProcesses::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto process = std::move(free_.back());
      free_.pop_back();
      return process;
    }
    if (why_not_) return nullptr;
  }
  auto started = Process::start(program_, setup_);
  if (started) return *std::move(started);
  const std::lock_guard lock(mutex_);
  why_not_ = started.error();
  return nullptr;
}

void CompilerProcesses::give_back(std::unique_ptr<Process> process) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(process));
}

}  // namespace gemmtune::app
