#pragma once

#include <memory>

#include "gpu/handle.h"

namespace gemmtune::gpu {

// A point in a stream, with a timestamp. Move-only.
class Event {
 public:
  static Result<Event> create(std::shared_ptr<const Context> context);

  // Needs the context current.
  Result<void> record(CUstream stream) const;
  Result<void> synchronize() const;
  // True once the recorded point is reached, without waiting.
  Result<bool> reached() const;

  CUevent handle() const { return handle_.get(); }

 private:
  explicit Event(Handle<CUevent, &DriverApi::event_destroy> handle) : handle_(std::move(handle)) {}

  Handle<CUevent, &DriverApi::event_destroy> handle_;

  friend Result<double> elapsed_us(const Event& begin, const Event& end);
};

// Microseconds between two events that were both reached; the driver's clock has a resolution of
// about 0.5 us.
Result<double> elapsed_us(const Event& begin, const Event& end);

}  // namespace gemmtune::gpu
