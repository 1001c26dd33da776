#include "gpu/event.h"

namespace gemmtune::gpu {

Result<Event> Event::create(std::shared_ptr<const Context> context) {
  CUevent event = nullptr;
  if (auto made = context->call_inside(
          "creating an event",
          [&](const DriverApi& api) { return api.event_create(&event, CU_EVENT_DEFAULT); });
      !made) {
    return tl::unexpected(made.error());
  }
  return Event({std::move(context), event});
}

Result<void> Event::record(CUstream stream) const {
  return handle_.context().call("recording an event", [&](const DriverApi& api) {
    return api.event_record(handle_.get(), stream);
  });
}

Result<void> Event::synchronize() const {
  return handle_.context().call_inside("waiting for an event", [&](const DriverApi& api) {
    return api.event_synchronize(handle_.get());
  });
}

Result<bool> Event::reached() const {
  bool reached = true;
  auto asked = handle_.context().call_inside("polling an event", [&](const DriverApi& api) {
    const CUresult code = api.event_query(handle_.get());
    reached = code != CUDA_ERROR_NOT_READY;
    return reached ? code : CUDA_SUCCESS;
  });
  if (!asked) return tl::unexpected(asked.error());
  return reached;
}

Result<double> elapsed_us(const Event& begin, const Event& end) {
  float milliseconds = 0;
  if (auto asked = begin.handle_.context().call_inside(
          "reading the time between two events",
          [&](const DriverApi& api) {
            return api.event_elapsed_time(&milliseconds, begin.handle(), end.handle());
          });
      !asked) {
    return tl::unexpected(asked.error());
  }
  return static_cast<double>(milliseconds) * 1000.0;
}

}  // namespace gemmtune::gpu
