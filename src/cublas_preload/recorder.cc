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
#include <type_traits>

#include "cublas_preload/log.h"

namespace gemmtune::cublas_preload {

constinit std::atomic<Recorder*> Recorder::of_process = nullptr;
constinit std::atomic<HandedOnLine*> Recorder::handed_on_lines = nullptr;
constinit std::atomic<uint64_t> Recorder::last_extent = 0;
constinit std::atomic<uint64_t> Recorder::last_first_word = 0;
constinit std::atomic<bool> Recorder::workspaces_noted = true;

namespace {

// What a process has decided about recording.
struct Decision {
  std::atomic<bool> made = false;
  std::mutex making;
};

// The state of the process. Calls may come until the process is gone, so it must not be destroyed.
static_assert(std::is_trivially_destructible_v<Decision>);
Decision& decision() {
  static constinit Decision state;
  return state;
}

Recorder* decide() {
  // First: a child that is forked meanwhile must not wait for this thread.
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, Recorder::forget_parent); });
  return Recorder::create(environment_variable).release();
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

// Locks that other threads held at the fork would stay held: the child begins anew, with a file of
// its own.
void Recorder::forget_parent() {
  set_current(nullptr);
  new (&decision()) Decision;
}

std::unique_ptr<Recorder> Recorder::create(const RunSettings::Variable& variable) {
  RunSettings settings = RunSettings::from(variable);
  if (!settings.folder.empty()) {
    auto recorder = create(settings.folder);
    if (recorder != nullptr) recorder->run_own_kernels(std::move(settings));
    return recorder;
  }
  const std::string folder = variable(kFolderVariable);
  return folder.empty() ? nullptr : create(folder);
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
      // Of a forked child that asked for nothing there is none.
      if (Recorder* const recorder = Recorder::current(); recorder != nullptr)
        recorder->timer().collect();
    });
  });
  return *timer_;
}

OwnKernels* Recorder::make_own_kernels() {
  if (!settings_) return nullptr;
  std::call_once(own_made_, [this] {
    owned_ = std::make_unique<OwnKernels>(*settings_, RunDriver::loaded(), table_->capacity());
    own_.store(owned_.get(), std::memory_order_release);
  });
  return owned_.get();
}

Recorder::Timed Recorder::start(const OwnCall& verdict, const Asked& asked, ProductRecord& record) {
  Timed timed;
  if (verdict.captured) return timed;
  timed.turn = owned_->next_turn(record, table_->number_of(record));
  if (timed.turn == OwnKernels::Turn::untimed) return timed;
  timed.pair = timer().start(asked.stream, 0);
  if (timed.pair < 0) timed.turn = OwnKernels::Turn::untimed;
  return timed;
}

void Recorder::stop(const Timed& timed, bool by_own, lt::Status status, const Asked& asked,
                    ProductRecord& record) {
  if (timed.pair < 0) return;
  // Of the side whose turn it was, and of calls that succeeded.
  const bool counts =
      status == lt::Status::success && by_own == (timed.turn == OwnKernels::Turn::timed_own);
  Samples* const samples = by_own ? &record.run.own : &record.cublas;
  timer().stop(timed.pair, asked.stream, counts ? samples : nullptr);
}

void Recorder::count_own(ProductRecord& record, bool captured) {
  add_to(record.run.own_calls);
  if (captured) add_to(record.run.own_graph_calls);
}

void Recorder::count_detour(ProductRecord& record, Detour detour) {
  add_to(record.run.detours[static_cast<size_t>(detour)]);
}

// Were two libraries asked for at once, the words of one might stand beside the other's address:
// an operation would then not begin as it should, and have no key.
DescriptorMemory::Extent Recorder::find_extent(const void* function) {
  const DescriptorMemory* const memory = descriptors.find(function);
  if (memory == nullptr) return {};
  const DescriptorMemory::Extent extent = memory->extent();
  last_first_word.store(extent.first_word, std::memory_order_relaxed);
  last_extent.store(reinterpret_cast<uintptr_t>(function) << kWordsBits | extent.words,
                    std::memory_order_release);
  return extent;
}

void Recorder::set_current(Recorder* recorder) {
  last_extent.store(0, std::memory_order_relaxed);
  workspaces_noted.store(recorder == nullptr || !recorder->settings_, std::memory_order_relaxed);
  handed_on_lines.store(recorder == nullptr ? nullptr : recorder->table_->handed_on().lines(),
                        std::memory_order_release);
  of_process.store(recorder, std::memory_order_release);
}

void Recorder::use(Recorder* recorder) {
  if (recorder != nullptr) {
    recorder->handles.forget();
    recorder->descriptors.forget();
    // Others may use it already.
    if (!recorder->in_running_process_) recorder->in_running_process_ = true;
  }
  set_current(recorder);
}

void Recorder::forget_all_but(const LoadedAddresses& loaded) {
  const auto is_gone = [&](const void* function) {
    return !loaded.contain(reinterpret_cast<uintptr_t>(function));
  };
  handles.forget_where(is_gone);
  descriptors.forget_where(is_gone);
  last_extent.store(0, std::memory_order_relaxed);
}

Recorder* Recorder::get() noexcept {
  if (Inside::depth() != 0) return nullptr;
  Decision& state = decision();
  if (state.made.load(std::memory_order_acquire)) return current();
  try {
    const std::lock_guard lock(state.making);
    if (!state.made.load(std::memory_order_acquire)) {
      const Inside inside;
      set_current(decide());
      state.made.store(true, std::memory_order_release);
    }
    return current();
  } catch (const std::exception& error) {
    log_once("nothing is recorded: %s", error.what());
    state.made.store(true, std::memory_order_release);
    return nullptr;
  }
}

}  // namespace gemmtune::cublas_preload
