#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cublas_preload/asked.h"
#include "cublas_preload/own/first_choices.h"
#include "cublas_preload/own/own_call.h"
#include "cublas_preload/own/run_driver.h"
#include "cublas_preload/own/run_settings.h"

namespace gemmtune::cublas_preload {

// Decides for each call of a process whether an own kernel computes it. Whatever goes wrong here
// ends in "hand it on". Finding what was decided before takes no lock. Thread-safe.
class OwnKernels {
 public:
  OwnKernels(RunSettings settings, const RunDriver& driver, uint32_t capacity);
  ~OwnKernels();  // unloads the kernels
  OwnKernels(const OwnKernels&) = delete;
  OwnKernels& operator=(const OwnKernels&) = delete;

  // What is to become of a call for the product of `record`, the one with `number` of the table.
  // The first call of a problem decides, and loads its kernel, but under capture nothing is
  // decided.
  OwnCall find(const Asked& asked, ProductRecord& record, size_t number) noexcept;

  // What became of a call whose verdict was `own`.
  enum class Enqueued {
    all,
    nothing,    // that C shows: cuBLAS has to compute it
    c_changed,  // it failed half way: what C held, if beta is not 0, is lost
  };
  Enqueued enqueue(const OwnCall& call, const Asked& asked, ProductRecord& record) noexcept;

  // Whether the next eligible call is for comparing times, and whose. Looks at the times that were
  // taken: where cuBLAS is faster, it gets all further calls of the problem.
  enum class Turn { untimed, timed_own, timed_cublas };
  Turn next_turn(ProductRecord& record, size_t number);

  // Whether cuBLASLt's heuristic names an algorithm first for a product, where that is known
  // already.
  void note_choice(const Product& product, const lt::Algorithm& algorithm, bool is_first) {
    first_choices_.note(product, algorithm, is_first);
  }

 private:
  static constexpr size_t kMostContexts = 16;

  // Null: nothing is decided, because it cannot be now.
  const OwnPlan* find_plan(const Asked& asked, ProductRecord& record, size_t number,
                           ContextKernels*& context);
  const OwnPlan* decide(CUcontext current, const Asked& asked, ProductRecord& record, size_t number,
                        ContextKernels*& context);
  ContextKernels* find_context(CUcontext current) const;
  ContextKernels* find_or_make_context(CUcontext current);
  bool is_alive(const ContextKernels& context) const;
  bool is_first_choice(const Asked& asked);
  bool may_replace(const Asked& asked);
  void take_operands(const Asked& asked, ContextKernels& context, OwnCall& call);
  void take_workspace(const Asked& asked, ContextKernels& context, OwnCall& call) const;
  // What is known of a problem, for the report.
  void note(ProductRecord& record, Ran ran, const std::string& text, double own_us = 0,
            double vendor_us = 0);
  void refuse(ProductRecord& record, size_t number, const std::string& why);

  RunSettings settings_;
  RunDriver driver_;
  uint32_t capacity_;
  FirstChoices first_choices_;
  // Problems that no device computes, by their number.
  std::unique_ptr<std::atomic<bool>[]> refused_;
  // Problems that cuBLAS was faster at in this process, by their number.
  std::unique_ptr<std::atomic<bool>[]> slower_;
  std::array<std::atomic<ContextKernels*>, kMostContexts> contexts_ = {};
  std::mutex mutex_;  // of those who make contexts, and who write what was decided
  std::vector<std::unique_ptr<ContextKernels>> owned_;
};

}  // namespace gemmtune::cublas_preload
