#include "gpu/stream.h"

namespace gemmtune::gpu {

Result<Stream> Stream::create(std::shared_ptr<const Context> context) {
  CUstream stream = nullptr;
  if (auto made = context->call_inside(
          "creating a stream",
          [&](const DriverApi& api) { return api.stream_create(&stream, CU_STREAM_NON_BLOCKING); });
      !made) {
    return tl::unexpected(made.error());
  }
  return Stream({std::move(context), stream});
}

Result<void> Stream::synchronize() const {
  return handle_.context().call_inside("waiting for a stream", [&](const DriverApi& api) {
    return api.stream_synchronize(handle_.get());
  });
}

Result<bool> Stream::finished() const {
  bool finished = true;
  auto asked = handle_.context().call_inside("polling a stream", [&](const DriverApi& api) {
    const CUresult code = api.stream_query(handle_.get());
    finished = code != CUDA_ERROR_NOT_READY;
    return finished ? code : CUDA_SUCCESS;
  });
  if (!asked) return tl::unexpected(asked.error());
  return finished;
}

}  // namespace gemmtune::gpu
