#include "cublas_preload/own/workspaces.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace gemmtune::cublas_preload {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

std::vector<size_t>& allocated() {
  static std::vector<size_t> sizes;
  return sizes;
}

CUresult allocate(CUdeviceptr* address, size_t bytes) {
  allocated().push_back(bytes);
  *address = allocated().size() << 32;
  return CUDA_SUCCESS;
}

CUresult id_of(CUstream stream, unsigned long long* id) {
  *id = reinterpret_cast<uintptr_t>(stream);
  return CUDA_SUCCESS;
}

CUresult capture_of(CUstream /*stream*/, CUstreamCaptureStatus* status, cuuint64_t* id,
                    CUgraph* /*graph*/, const CUgraphNode** /*nodes*/, size_t* /*count*/) {
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  *id = 7;
  return CUDA_SUCCESS;
}

// On a driver that has memory without end.
struct Endless {
  Endless() { allocated().clear(); }
  static RunDriver driver() {
    RunDriver made;
    made.stream_get_id = id_of;
    made.stream_get_capture = capture_of;
    made.exchange_capture_mode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
    made.mem_alloc = allocate;
    return made;
  }
  static CUstream stream(uintptr_t number) {
    return reinterpret_cast<CUstream>(number << 8);  // NOLINT(performance-no-int-to-ptr)
  }
  Workspaces workspaces{driver(), {}};
};

TEST_CASE_FIXTURE(Endless, "small workspaces are rounded up to powers of two, large ones hardly") {
  CHECK(workspaces.for_stream(stream(1), 1) != nullptr);
  CHECK(workspaces.for_stream(stream(2), 33 * kMiB) != nullptr);
  CHECK(workspaces.for_stream(stream(3), 393 * kMiB + 1) != nullptr);
  CHECK(allocated() == std::vector<size_t>{kMiB, 64 * kMiB, 394 * kMiB});
}

TEST_CASE_FIXTURE(Endless, "a large workspace serves its stream's smaller problems") {
  void* const large = workspaces.for_stream(stream(1), 400 * kMiB);
  CHECK(large != nullptr);
  CHECK(workspaces.for_stream(stream(1), 3 * kMiB) == large);
  CHECK(workspaces.for_stream(stream(2), 3 * kMiB) != large);
}

TEST_CASE_FIXTURE(Endless, "there are limits of one, and of all together") {
  const auto [of_one, together] = workspaces.limits();
  CHECK(workspaces.for_stream(stream(1), of_one + 1) == nullptr);
  CHECK(workspaces.for_stream(stream(1), of_one) != nullptr);
  CHECK(workspaces.for_stream(stream(2), of_one) == nullptr);
  CHECK(workspaces.for_stream(stream(2), together - of_one) != nullptr);
  CHECK(workspaces.for_stream(stream(3), 1) == nullptr);
}

// What ships for it needs 834 MiB (docs/run.md).
TEST_CASE("a large GPU has workspaces for what ships for it, a small one as much as before") {
  const auto h100 = Workspaces::Limits::of_device(85'017'493'504);
  CHECK(h100.of_one >= 834 * kMiB);
  CHECK(h100.together <= 85'017'493'504 / 50);
  CHECK(Workspaces::Limits::of_device(size_t{180} << 30).of_one == 1024 * kMiB);
  for (const size_t gib : {0, 8, 24, 40}) {
    CAPTURE(gib);
    const auto limits = Workspaces::Limits::of_device(gib << 30);
    CHECK(limits.of_one == 512 * kMiB);
    CHECK(limits.together == 768 * kMiB);
  }
}

TEST_CASE_FIXTURE(Endless, "nothing large is set aside for captures") {
  workspaces.prepare_captures(Workspaces::kMostOfCapture + 1);
  CHECK(allocated().empty());
  CHECK(workspaces.for_capture(stream(1), Workspaces::kMostOfCapture + 1) == nullptr);
  workspaces.prepare_captures(Workspaces::kMostOfCapture);
  CHECK(allocated().size() == 2);
  CHECK(workspaces.for_capture(stream(1), Workspaces::kMostOfCapture) != nullptr);
}

TEST_CASE_FIXTURE(Endless, "each stream of a capture has a workspace of its own") {
  workspaces.prepare_captures(kMiB);
  void* const first = workspaces.for_capture(stream(1), kMiB);
  void* const second = workspaces.for_capture(stream(2), kMiB);
  CHECK(first != nullptr);
  CHECK(second != nullptr);
  CHECK(first != second);
  CHECK(workspaces.for_capture(stream(1), kMiB) == first);
  CHECK(workspaces.for_capture(stream(3), kMiB) == nullptr);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
