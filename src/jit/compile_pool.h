#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "jit/compile.h"
#include "jit/compiler.h"

namespace gemmtune::jit {

// A finished request.
struct CompileOutcome {
  std::size_t index = 0;  // as given to submit()
  CompileResult result;
};

// Worker threads that compile requests in the order of submission and hand results over in the
// order of completion. All members may be called from any thread; the destructor drops what has not
// started and waits for what has.
class CompilePool {
 public:
  // `threads` < 1 counts as 1. `compile` is called from all workers at once; an exception it throws
  // is delivered as a CompileFailure.
  CompilePool(CompileFunction compile, int threads);
  CompilePool(std::shared_ptr<const KernelCompiler> compiler, int threads);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // Queues a request. `index` is the caller's and is handed back; it need not be unique. A request
  // with the content of one that is queued or compiling is not compiled again: both get the result.
  // Ignored after cancel().
  void submit(std::size_t index, CompileRequest request);

  // The next finished request. Blocks until there is one; empty once all that was submitted has
  // been delivered or dropped.
  std::optional<CompileOutcome> next();

  // The same, but gives up after `timeout`: empty means nothing was ready yet or nothing is left;
  // pending() tells which.
  std::optional<CompileOutcome> next_for(std::chrono::milliseconds timeout);

  // Drops every request that no worker has started, and those to come. Requests being compiled are
  // finished and delivered. Returns how many were dropped. Not for signal handlers: poll a flag.
  std::size_t cancel();

  // Submitted and neither delivered nor dropped.
  std::size_t pending() const;

  // Different requests that are queued or being compiled: what keeps workers busy.
  std::size_t compiling() const;

 private:
  struct Job {
    std::string content;  // what makes two requests the same
    CompileRequest request;
    std::vector<std::size_t> indices;  // every submit() this job answers
  };

  void work();
  void deliver(const std::shared_ptr<Job>& job, CompileResult result);
  CompileResult run(const CompileRequest& request) const;
  std::optional<CompileOutcome> take();

  CompileFunction compile_;
  mutable std::mutex mutex_;
  std::condition_variable work_ready_;
  std::condition_variable result_ready_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::map<std::string, std::shared_ptr<Job>> in_flight_;  // queued or compiling, by content
  std::deque<CompileOutcome> done_;
  std::size_t pending_ = 0;
  bool cancelled_ = false;
  bool stopping_ = false;
  std::vector<std::thread> workers_;  // last: they use everything above
};

}  // namespace gemmtune::jit
