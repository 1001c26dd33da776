#include "cublas_preload/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <new>

#include "cublas_preload/log.h"

namespace gemmtune::cublas_preload {
namespace {

// What a process has decided about recording.
struct Decision {
  std::atomic<bool> made = false;
  std::atomic<Recorder*> recorder = nullptr;
  std::mutex making;
};

// The state of the process. It is not destroyed: calls may come until the process is gone.
Decision& decision() {
  alignas(Decision) static unsigned char storage[sizeof(Decision)];
  static Decision* const made = new (storage) Decision;
  return *made;
}

// Locks that other threads held at the fork would stay held: the child begins anew, with a file of
// its own.
void forget_parent() {
  new (&decision()) Decision;
}

Recorder* decide() {
  const char* const folder = std::getenv(kFolderVariable);
  if (folder == nullptr || *folder == '\0') return nullptr;
  Recorder* const recorder = Recorder::create(folder).release();
  if (recorder == nullptr) return nullptr;
  ::pthread_atfork(nullptr, nullptr, forget_parent);
  return recorder;
}

// A name that no other process uses, also where several machines or containers share the folder.
std::string file_name() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::to_string(::getpid()) + "-" + std::to_string(now.tv_sec) + "-" +
         std::to_string(now.tv_nsec) + kFileSuffix;
}

}  // namespace

int& Recorder::Inside::depth() noexcept {
  static thread_local int depth = 0;
  return depth;
}

std::unique_ptr<Recorder> Recorder::create(const std::string& folder) {
  auto table = ProductTable::create(folder + "/" + file_name());
  if (table == nullptr) {
    log_once("nothing is recorded, because no file can be made in %s: %s", folder.c_str(),
             std::strerror(errno));
    return nullptr;
  }
  return std::make_unique<Recorder>(std::move(table));
}

CallTimer& Recorder::timer() {
  std::call_once(timer_made_, [this] {
    timer_.emplace(TimerDriver::loaded());
    // Registered after the driver's own handler, so that it runs while the driver still works.
    std::atexit([] {
      if (Recorder* const recorder = Recorder::get(); recorder != nullptr)
        recorder->timer().collect();
    });
  });
  return *timer_;
}

Recorder* Recorder::get() noexcept {
  if (Inside::depth() != 0) return nullptr;
  Decision& state = decision();
  if (state.made.load(std::memory_order_acquire))
    return state.recorder.load(std::memory_order_acquire);
  try {
    const std::lock_guard lock(state.making);
    if (!state.made.load(std::memory_order_acquire)) {
      const Inside inside;
      state.recorder.store(decide(), std::memory_order_release);
      state.made.store(true, std::memory_order_release);
    }
    return state.recorder.load(std::memory_order_acquire);
  } catch (const std::exception& error) {
    log_once("nothing is recorded: %s", error.what());
    state.made.store(true, std::memory_order_release);
    return nullptr;
  }
}

}  // namespace gemmtune::cublas_preload
