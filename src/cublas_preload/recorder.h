#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cublas_preload/call_timer.h"
#include "cublas_preload/descriptors.h"
#include "cublas_preload/product_table.h"
#include "cublas_preload/shadow_map.h"

namespace gemmtune::cublas_preload {

// Everything that is known in a process: what its descriptors say, and the products that it asked
// for. Thread-safe.
class Recorder {
 public:
  // Counts into a new file of `folder`. Null, and a line on stderr, if that cannot be made.
  static std::unique_ptr<Recorder> create(const std::string& folder);

  explicit Recorder(std::unique_ptr<ProductTable> table) : table_(std::move(table)) {}

  // The recorder of this process; null where GEMM_TUNE_CAPTURE_DIR is not set, where recording is
  // not possible, and in a call that cuBLAS makes to itself while it serves one that is recorded.
  // A forked child has one of its own, made with its first call. Never destroyed.
  static Recorder* get() noexcept;

  ShadowMap<HandleState, 1024> handles;
  ShadowMap<LayoutState, 8192> layouts;
  ShadowMap<OperationState, 4096> operations;

  // Makes `call`, and counts the product if it succeeds.
  template <class Call>
  lt::Status record(const Product& product, CUstream stream, const Call& call) {
    const Inside inside;
    ProductRecord* const record = table_->find_or_add(product);
    if (record == nullptr) return call();
    CallTimer& timer = this->timer();
    const bool captured = timer.is_capturing(stream);
    const int pair = captured ? -1 : timer.start(stream, ProductTable::calls(*record));
    const lt::Status status = call();
    const bool counted = status == lt::Status::success;
    timer.stop(pair, stream, counted ? record : nullptr);
    if (counted) ProductTable::count(*record, captured);
    return status;
  }

 private:
  // While one lives, this thread is in a call that is recorded.
  class Inside {
   public:
    Inside() { depth() = 1; }
    ~Inside() { depth() = 0; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    static int& depth() noexcept;
  };

  // Made with the first product: by then the process has loaded the driver.
  CallTimer& timer();

  std::unique_ptr<ProductTable> table_;
  std::once_flag timer_made_;
  std::optional<CallTimer> timer_;
};

}  // namespace gemmtune::cublas_preload
