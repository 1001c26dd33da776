#include "jit/compile_pool.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "core/content_hash.h"

namespace gemmtune::jit {
namespace {

// What makes two requests the same. The name counts, as a result carries it.
std::string content_of(const CompileRequest& request) {
  ContentHash hash;
  hash.add(to_string(request.arch)).add(request.source.name).add(request.source.text);
  hash.add(uint64_t{request.source.headers.size()});
  for (const auto& header : request.source.headers) hash.add(header.name).add(header.text);
  hash.add(uint64_t{request.source.entries.size()});
  for (const auto& entry : request.source.entries) hash.add(entry);
  for (const auto& option : request.source.options) hash.add(option);
  for (const auto& option : request.options) hash.add(option);
  return hash.hex();
}

}  // namespace

CompilePool::CompilePool(CompileFunction compile, int threads) : compile_(std::move(compile)) {
  const int count = std::max(threads, 1);
  workers_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system has no thread left for us: fewer workers do, none does not.
      if (workers_.empty()) throw;
      break;
    }
  }
}

CompilePool::CompilePool(std::shared_ptr<const KernelCompiler> compiler, int threads)
    : CompilePool([compiler = std::move(compiler)](
                      const CompileRequest& request) { return compiler->compile(request); },
                  threads) {}

CompilePool::~CompilePool() {
  cancel();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_ready_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void CompilePool::submit(std::size_t index, CompileRequest request) {
  std::string content = content_of(request);
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return;
    ++pending_;
    if (const auto same = in_flight_.find(content); same != in_flight_.end()) {
      same->second->indices.push_back(index);
      return;
    }
    auto job = std::make_shared<Job>(Job{content, std::move(request), {index}});
    in_flight_.emplace(std::move(content), job);
    queue_.push_back(std::move(job));
  }
  work_ready_.notify_one();
}

std::optional<CompileOutcome> CompilePool::next() {
  std::unique_lock lock(mutex_);
  result_ready_.wait(lock, [this] { return !done_.empty() || pending_ == 0; });
  return take();
}

std::optional<CompileOutcome> CompilePool::next_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  result_ready_.wait_for(lock, timeout, [this] { return !done_.empty() || pending_ == 0; });
  return take();
}

// With the lock held.
std::optional<CompileOutcome> CompilePool::take() {
  if (done_.empty()) return std::nullopt;
  CompileOutcome outcome = std::move(done_.front());
  done_.pop_front();
  // Others that wait must learn that nothing is left.
  if (--pending_ == 0) result_ready_.notify_all();
  return outcome;
}

std::size_t CompilePool::cancel() {
  std::size_t dropped = 0;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    for (const auto& job : queue_) {
      dropped += job->indices.size();
      in_flight_.erase(job->content);
    }
    queue_.clear();
    pending_ -= dropped;
  }
  result_ready_.notify_all();
  return dropped;
}

std::size_t CompilePool::pending() const {
  const std::lock_guard lock(mutex_);
  return pending_;
}

std::size_t CompilePool::compiling() const {
  const std::lock_guard lock(mutex_);
  return in_flight_.size();
}

void CompilePool::work() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      work_ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    deliver(job, run(job->request));
  }
}

CompileResult CompilePool::run(const CompileRequest& request) const {
  try {
    return compile_(request);
  } catch (const std::exception& e) {
    return tl::unexpected(CompileFailure{CompilePhase::output, e.what(), e.what()});
  } catch (...) {
    const std::string what = "the compile function threw something that is no std::exception";
    return tl::unexpected(CompileFailure{CompilePhase::output, what, what});
  }
}

void CompilePool::deliver(const std::shared_ptr<Job>& job, CompileResult result) {
  {
    const std::lock_guard lock(mutex_);
    in_flight_.erase(job->content);
    for (std::size_t i = 0; i + 1 < job->indices.size(); ++i)
      done_.push_back({job->indices[i], result});
    done_.push_back({job->indices.back(), std::move(result)});
  }
  result_ready_.notify_all();
}

}  // namespace gemmtune::jit
