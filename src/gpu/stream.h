#pragma once

#include <memory>

#include "gpu/handle.h"

namespace gemmtune::gpu {

// A stream of its own (it does not wait for the legacy default stream). Move-only. One thread at a
// time may capture on it; otherwise thread-safe.
class Stream {
 public:
  static Result<Stream> create(std::shared_ptr<const Context> context);

  // Waits for all work enqueued so far; a crash of that work is reported here.
  Result<void> synchronize() const;
  // True if all work is done, without waiting.
  Result<bool> finished() const;

  CUstream handle() const { return handle_.get(); }
  const std::shared_ptr<const Context>& context() const { return handle_.shared_context(); }

 private:
  explicit Stream(Handle<CUstream, &DriverApi::stream_destroy> handle)
      : handle_(std::move(handle)) {}

  Handle<CUstream, &DriverApi::stream_destroy> handle_;
};

}  // namespace gemmtune::gpu
