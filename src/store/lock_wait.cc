#include "store/lock_wait.h"

#include <sqlite3.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace gemmtune::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongWait{3000};
constexpr milliseconds kLongestPause{100};

int wait_for_lock(void* wait, int tries) {
  return static_cast<LockWait*>(wait)->go_on(tries) ? 1 : 0;
}

}  // namespace

LockWait::LockWait(milliseconds timeout, std::function<void()> on_long_wait)
    : timeout_(timeout), on_long_wait_(std::move(on_long_wait)) {}

void LockWait::attach(SQLite::Database& database) {
  sqlite3_busy_handler(database.getHandle(), wait_for_lock, this);
}

bool LockWait::go_on(int tries) {
  const auto now = Clock::now();
  if (tries == 0) {
    start_ = now;
    was_told_ = false;
  }
  const auto waited = now - start_;
  if (waited >= timeout_) return false;
  if (waited >= kLongWait && !was_told_ && on_long_wait_) {
    was_told_ = true;
    on_long_wait_();
  }
  const milliseconds pause = std::min(kLongestPause, milliseconds(tries + 1));
  std::this_thread::sleep_for(std::min<Clock::duration>(pause, timeout_ - waited));
  return true;
}

}  // namespace gemmtune::store
