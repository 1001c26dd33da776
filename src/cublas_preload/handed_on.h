#pragma once

#include <cstddef>
#include <cstdint>

#include "cublas_preload/code_lines.h"
#include "cublas_preload/product_file.h"
#include "cublas_preload/spin_lock.h"

namespace gemmtune::cublas_preload {

// Calls that no own kernel computes and none ever will in this process, by a hash of what they ask
// for: so that they are handed on without finding that out again. They are counted where they are
// found, in the process's file, so that both take one line of the processor's cache. A place may be
// lost to another call, which costs time only: its calls are then added to the product's record.
// Two calls of one hash would both be handed on. Thread-safe.
class HandedOn {
 public:
  static constexpr uint64_t kNoKey = 0;
  // Calls of a place that are added to the record at once, before they fill its 32 bits.
  static constexpr uint64_t kMostCalls = uint64_t{1} << 30;

  // `lines`: kHandedOnLines of them, and the records behind.
  explicit HandedOn(HandedOnLine* lines) : lines_(lines) {}

  HandedOnLine* lines() const { return lines_; }

  // Whether a call is known; then it is counted. Now and then false where it is.
  GEMMTUNE_CODE_OF_MATMUL static bool counts(HandedOnLine* lines, uint64_t key);

  // Product `number`, from 0 on, is that of calls with this key from now on.
  void note(uint64_t key, size_t number);

 private:
  HandedOnLine* lines_;
  SpinLock noting_;
};

}  // namespace gemmtune::cublas_preload
