#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cublas_preload/asked.h"
#include "cublas_preload/attach/loaded_objects.h"
#include "cublas_preload/call_timer.h"
#include "cublas_preload/code_lines.h"
#include "cublas_preload/descriptor_memory.h"
#include "cublas_preload/descriptors.h"
#include "cublas_preload/handed_on.h"
#include "cublas_preload/handle_settings.h"
#include "cublas_preload/handle_workspaces.h"
#include "cublas_preload/known_libraries.h"
#include "cublas_preload/own/own_kernels.h"
#include "cublas_preload/product_table.h"

namespace gemmtune::cublas_preload {

// Everything that is known in a process: how its libraries are read, and the products that it asked
// for. With own kernels it also has them compute what they can. Thread-safe.
class Recorder {
 public:
  // Counts into a new file of `folder`. Null, and a line on stderr, if that cannot be made.
  static std::unique_ptr<Recorder> create(const std::string& folder);

  explicit Recorder(std::unique_ptr<ProductTable> table) : table_(std::move(table)) {}

  // One that does what `variable` says: run own kernels, or only count. Null where it names no
  // folder, too.
  static std::unique_ptr<Recorder> create(const RunSettings::Variable& variable);

  // From now on own kernels compute what they can.
  void run_own_kernels(RunSettings settings) { settings_ = std::move(settings); }

  // The recorder of this process; null where neither GEMM_TUNE_CAPTURE_DIR nor GEMM_TUNE_RUN_DIR is
  // set, where recording is not possible, and in a call that cuBLAS makes to itself while it serves
  // one that is recorded. A forked child has one of its own, made with its first call. Never
  // destroyed.
  static Recorder* get() noexcept;

  // The same for who knows that this is no such call, and without deciding anything: null until
  // get() has been called.
  static Recorder* current() { return of_process.load(std::memory_order_acquire); }

  // Makes `recorder` that of this process until the next call; null: none. It begins in a running
  // process: what was found out about libraries is forgotten. get() has to have been called before,
  // so that the environment does not decide any more.
  static void use(Recorder* recorder);
  // Objects have been unloaded: what was found out about functions of theirs is forgotten.
  void forget_all_but(const LoadedAddresses& loaded);
  // After a fork, in the child.
  static void forget_parent();
  bool in_running_process() const { return in_running_process_; }

  // Stores the times of calls that are over.
  void collect() { timer().collect(); }

  KnownLibraries<HandleSettings> handles{HandleSettings::of_library};
  KnownLibraries<DescriptorMemory> descriptors{DescriptorMemory::of_library};
  HandleWorkspaces workspaces;  // of a capture

  // How operations of the cuBLASLt that has `function` are read. What is known of the last one that
  // was asked for lies where every call looks.
  DescriptorMemory::Extent extent_of(const void* function) {
    const uint64_t last = last_extent.load(std::memory_order_acquire);
    if (last >> kWordsBits == reinterpret_cast<uintptr_t>(function)) [[likely]]
      return {last & kWordsMask, last_first_word.load(std::memory_order_relaxed)};
    return find_extent(function);
  }

  // False where the recorder of this process runs own kernels, which have workspaces of their own.
  static bool may_note_workspaces() { return workspaces_noted.load(std::memory_order_relaxed); }

  // Computes a product by an own kernel, or makes `call`; and counts it if that succeeds. `key`: a
  // hash of what it asks for, by which it is handed on from now on if there is no own kernel.
  template <class Call>
  lt::Status serve(const Asked& asked, const Call& call, uint64_t key = HandedOn::kNoKey) {
    const Inside inside;
    ProductRecord* const record = table_->find_or_add(asked.product);
    if (record == nullptr) return call();
    return settings_ ? run(asked, *record, call, key) : time(asked.stream, *record, call);
  }

  // Whether it is known of a call in this process that it is to be handed on; then it is counted.
  static bool counts_handed_on(uint64_t key) {
    HandedOnLine* const lines = handed_on_lines.load(std::memory_order_acquire);
    return lines != nullptr && HandedOn::counts(lines, key);
  }

  // Null where none are to be used.
  OwnKernels* own_kernels() {
    OwnKernels* const made = own_.load(std::memory_order_acquire);
    return made != nullptr ? made : make_own_kernels();
  }

 private:
  // While one lives, this thread is in a call that is recorded.
  class Inside {
   public:
    Inside() : outside_(std::exchange(depth(), 1)) {}
    ~Inside() { depth() = outside_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    static int& depth() noexcept;

   private:
    int outside_;
  };

  template <class Call>
  lt::Status time(CUstream stream, ProductRecord& record, const Call& call) {
    CallTimer& timer = this->timer();
    const bool captured = timer.is_capturing(stream);
    const int pair = captured ? -1 : timer.start(stream, ProductTable::calls(record));
    const lt::Status status = call();
    const bool counted = status == lt::Status::success;
    timer.stop(pair, stream, counted ? &record.cublas : nullptr);
    if (counted) ProductTable::count(record, captured);
    return status;
  }

  template <class Call>
  lt::Status run(const Asked& asked, ProductRecord& record, const Call& call, uint64_t key) {
    OwnKernels* const own = own_kernels();
    const OwnCall verdict = own->find(asked, record, table_->number_of(record));
    if (verdict.verdict == OwnCall::Verdict::own) {
      const Timed timed = start(verdict, asked, record);
      const bool by_cublas = timed.turn == OwnKernels::Turn::timed_cublas;
      using Enqueued = OwnKernels::Enqueued;
      const Enqueued enqueued =
          by_cublas ? Enqueued::nothing : own->enqueue(verdict, asked, record);
      const bool done = enqueued == Enqueued::all;
      const bool lost = enqueued == Enqueued::c_changed && asked.product.beta != Beta::zero;
      const lt::Status status = done   ? lt::Status::success
                                : lost ? lt::Status::execution_failed
                                       : call();
      stop(timed, done, status, asked, record);
      if (done) count_own(record, verdict.captured);
      if (!done) count_detour(record, by_cublas ? Detour::timed : Detour::failure);
      if (status == lt::Status::success) ProductTable::count(record, verdict.captured);
      return status;
    }
    if (verdict.verdict == OwnCall::Verdict::hand_on)
      table_->handed_on().note(key, table_->number_of(record));
    if (verdict.verdict == OwnCall::Verdict::detour) count_detour(record, verdict.detour);
    const lt::Status status = call();
    if (status == lt::Status::success) ProductTable::count(record, verdict.captured);
    return status;
  }

  // The turn of a call, and its pair of events.
  struct Timed {
    OwnKernels::Turn turn = OwnKernels::Turn::untimed;
    int pair = -1;
  };
  Timed start(const OwnCall& verdict, const Asked& asked, ProductRecord& record);
  void stop(const Timed& timed, bool by_own, lt::Status status, const Asked& asked,
            ProductRecord& record);
  static void count_own(ProductRecord& record, bool captured);
  static void count_detour(ProductRecord& record, Detour detour);

  // Both are made with the first product: by then the process has loaded the driver.
  CallTimer& timer();
  OwnKernels* make_own_kernels();

  static void set_current(Recorder* recorder);
  [[gnu::noinline, gnu::cold]] DescriptorMemory::Extent find_extent(const void* function);

  // Of last_extent: the function's address above the number of words.
  static constexpr int kWordsBits = 8;
  static constexpr uint64_t kWordsMask = (uint64_t{1} << kWordsBits) - 1;
  static_assert(DescriptorMemory::kMostWords <= kWordsMask);

  GEMMTUNE_STATE_OF_CALLS static constinit std::atomic<Recorder*> of_process;
  GEMMTUNE_STATE_OF_CALLS static constinit std::atomic<HandedOnLine*> handed_on_lines;
  GEMMTUNE_STATE_OF_CALLS static constinit std::atomic<uint64_t> last_extent;
  GEMMTUNE_STATE_OF_CALLS static constinit std::atomic<uint64_t> last_first_word;
  GEMMTUNE_STATE_OF_CALLS static constinit std::atomic<bool> workspaces_noted;

  std::unique_ptr<ProductTable> table_;
  std::atomic<OwnKernels*> own_ = nullptr;  // what owned_ has, once it is made
  bool in_running_process_ = false;         // set before others see it
  std::optional<RunSettings> settings_;     // of own kernels
  std::once_flag timer_made_;
  std::optional<CallTimer> timer_;
  std::once_flag own_made_;
  std::unique_ptr<OwnKernels> owned_;
};

}  // namespace gemmtune::cublas_preload
