#include "cublas_preload/own/workspaces.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gemmtune::cublas_preload {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;
constexpr int kSpares = 2;
constexpr size_t kShareOfOne = 80;
// As much as a search gives any kernel (codegen/workspace_limits.h).
constexpr size_t kMostOfAny = size_t{1} << 30;
// The default stream of each thread is another one, and all have this handle.
const auto kPerThread = CU_STREAM_PER_THREAD;

// Small ones are rounded up further, so that they serve more problems.
size_t rounded(size_t bytes) {
  if (bytes <= Workspaces::kMostOfCapture)
    return std::bit_ceil(std::max(bytes, Workspaces::kLeastBytes));
  return (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

}  // namespace

Workspaces::Limits Workspaces::Limits::of_device(size_t bytes) {
  Limits limits;
  limits.of_one = std::clamp(bytes / kShareOfOne, limits.of_one, kMostOfAny);
  limits.together = limits.of_one / 2 * 3;
  return limits;
}

void* Workspaces::find(unsigned long long stream, cuuint64_t capture, size_t bytes) const {
  for (const Block& block : blocks_) {
    if (block.taken && block.stream == stream && block.capture == capture && block.bytes >= bytes)
      return block.memory;
  }
  return nullptr;
}

Workspaces::Block* Workspaces::allocate(size_t bytes) {
  if (bytes > limits_.of_one) return nullptr;
  const size_t wanted = rounded(bytes);
  if (wanted > limits_.together - total_bytes_) return nullptr;
  CUdeviceptr address = 0;
  // Allowed while another thread captures.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_.exchange_capture_mode(&mode);
  const CUresult code = driver_.mem_alloc(&address, wanted);
  driver_.exchange_capture_mode(&mode);
  if (code != CUDA_SUCCESS) return nullptr;
  total_bytes_ += wanted;
  Block block;
  block.memory = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  block.bytes = wanted;
  blocks_.push_back(block);
  return &blocks_.back();
}

void* Workspaces::for_stream(CUstream stream, size_t bytes) {
  unsigned long long id = 0;
  if (stream == kPerThread || driver_.stream_get_id(stream, &id) != CUDA_SUCCESS) return nullptr;
  const std::lock_guard lock(mutex_);
  if (void* const found = find(id, 0, bytes); found != nullptr) return found;
  Block* const block = allocate(bytes);
  if (block == nullptr) return nullptr;
  block->taken = true;
  block->stream = id;
  return block->memory;
}

void* Workspaces::for_capture(CUstream stream, size_t bytes) {
  cuuint64_t capture = 0;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream == kPerThread ||
      driver_.stream_get_capture(stream, &status, &capture, nullptr, nullptr, nullptr) !=
          CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    return nullptr;
  // Its handle: to ask for its id would end the capture.
  const auto id = static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream));
  const std::lock_guard lock(mutex_);
  if (void* const found = find(id, capture, bytes); found != nullptr) return found;
  const auto spare = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return !block.taken && block.bytes >= bytes;
  });
  if (spare == blocks_.end()) return nullptr;
  spare->taken = true;
  spare->stream = id;
  spare->capture = capture;
  return spare->memory;
}

void Workspaces::prepare_captures(size_t bytes) {
  if (bytes > kMostOfCapture) return;
  const std::lock_guard lock(mutex_);
  auto spares = std::count_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return !block.taken && block.bytes >= bytes;
  });
  while (spares < kSpares && allocate(bytes) != nullptr) ++spares;
}

}  // namespace gemmtune::cublas_preload
