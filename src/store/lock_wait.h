#pragma once

#include <SQLiteCpp/Database.h>

#include <chrono>
#include <functional>

namespace gemmtune::store {

// How a connection waits for the lock of another process.
class LockWait {
 public:
  // A wait ends after `timeout`. `on_long_wait`, if set, is called once for each that has taken a
  // few seconds, on the thread that waits; it must not throw.
  LockWait(std::chrono::milliseconds timeout, std::function<void()> on_long_wait);
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  // Has `database` wait so. The object outlives the connection.
  void attach(SQLite::Database& database);

  // Sleeps a while, unless the wait is over; `tries` counts from 0 with each wait. Whether to try
  // again.
  bool go_on(int tries);

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds timeout_;
  std::function<void()> on_long_wait_;
  Clock::time_point start_;
  bool was_told_ = false;
};

}  // namespace gemmtune::store
