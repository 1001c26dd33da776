// A batch of products C[i] = alpha * A[i] * B[i]^T + beta * C[i] with libgemmtune's C++ interface:
//
//     batched DATABASE
//
// Exit code: 0 right, 1 wrong or failed, 2 usage, 77 no GPU.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <gemmtune/gemmtune.hpp>
#include <random>
#include <vector>

extern "C" {
#include "cuda_driver.h"
}

namespace {

constexpr int kBatch = 6;
constexpr int kRows = 96;
constexpr int kColumns = 80;
constexpr int kDepth = 64;
constexpr float kAlpha = 0.5F;
constexpr float kBeta = -1;

// Device memory with the lifetime of an object.
class DeviceMemory {
 public:
  DeviceMemory(const cuda_driver& cuda, size_t bytes) : cuda_(cuda), bytes_(bytes) {
    if (bytes > 0 && cuda.allocate(&address_, bytes) != 0) throw std::bad_alloc();
  }
  ~DeviceMemory() {
    if (address_ != 0) cuda_.release(address_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* get() const { return reinterpret_cast<void*>(address_); }
  size_t bytes() const { return bytes_; }
  void fill(const std::vector<float>& from) { cuda_.to_device(address_, from.data(), bytes_); }
  void read(std::vector<float>& to) const { cuda_.to_host(to.data(), address_, bytes_); }

 private:
  const cuda_driver& cuda_;
  size_t bytes_;
  unsigned long long address_ = 0;
};

std::vector<float> random_values(size_t count) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(count);
  for (float& v : values) v = value(random);
  return values;
}

double expected(const std::vector<float>& a, const std::vector<float>& b, float c, int batch, int i,
                int j) {
  double sum = 0;
  for (int k = 0; k < kDepth; ++k) {
    sum += static_cast<double>(a[(batch * kRows + i) * kDepth + k]) *
           b[(batch * kColumns + j) * kDepth + k];
  }
  return kAlpha * sum + kBeta * c;
}

// The largest difference to the product formed on the CPU.
double run(const cuda_driver& cuda, gemmtune::Handle& handle) {
  gemmtune::Problem problem(kRows, kColumns, kDepth);
  problem.batch = kBatch;
  problem.order_b = GEMMTUNE_COLUMN_MAJOR;  // the transpose of a row-major 80 x 64
  handle.prewarm({&problem, 1});

  const auto a = random_values(size_t{kBatch} * kRows * kDepth);
  const auto b = random_values(size_t{kBatch} * kColumns * kDepth);
  auto c = random_values(size_t{kBatch} * kRows * kColumns);
  const auto before = c;
  DeviceMemory device_a(cuda, a.size() * sizeof(float));
  DeviceMemory device_b(cuda, b.size() * sizeof(float));
  DeviceMemory device_c(cuda, c.size() * sizeof(float));
  const DeviceMemory workspace(cuda, handle.workspace_bytes(problem));
  device_a.fill(a);
  device_b.fill(b);
  device_c.fill(c);
  handle.gemm(problem, kAlpha, device_a.get(), device_b.get(), kBeta, device_c.get(),
              workspace.get(), workspace.bytes());
  device_c.read(c);  // on the default stream, as the product
  std::printf("%s", handle.explain(problem).c_str());

  double largest = 0;
  for (int batch = 0; batch < kBatch; ++batch) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kColumns; ++j) {
        const size_t at = (static_cast<size_t>(batch) * kRows + i) * kColumns + j;
        largest = std::fmax(largest, std::fabs(expected(a, b, before[at], batch, i, j) - c[at]));
      }
    }
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: batched DATABASE\n");
    return 2;
  }
  cuda_driver cuda;
  const bool gpu = cuda_start(&cuda) != 0;
  auto handle = gemmtune::Handle::from_database(argv[1]);
  if (!gpu) return 1;
  const double error = run(cuda, handle);
  std::printf("largest error: %.2g\n", error);
  return error <= 1e-6 * kDepth ? 0 : 1;
} catch (const gemmtune::Error& error) {
  std::fprintf(stderr, "%s: %s\n", gemmtune_status_string(error.status()), error.what());
  return error.status() == GEMMTUNE_STATUS_NO_DEVICE ? 77 : 1;
}
