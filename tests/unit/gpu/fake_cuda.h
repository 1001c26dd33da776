#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gemmtune::fake_cuda {

// One kernel launch that ran.
struct Launch {
  std::string kernel;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  std::array<unsigned, 3> cluster{1, 1, 1};
  bool overlaps_previous = false;
  unsigned dynamic_smem_bytes = 0;
  std::vector<std::byte> arguments;
};

// The test's side of the fake driver. Its device memory is host memory, work runs at once (or when
// its graph is launched), and time passes 10 us per operation and launch of a graph. An image is
// text: every word in it is a kernel; "BAD" fails to load as invalid PTX with a log, "FOREIGN" as
// code of another arch. A process that does not reset it has the devices that GEMMTUNE_FAKE_GPUS
// names ("NVIDIA H200,NVIDIA H200"), or none. One driver a process, thread-safe; callbacks run
// inside the driver and must not call it.
class FakeCuda {
 public:
  // Forgets everything, injected failures and registered kernels included.
  virtual void reset(int devices = 1) = 0;
  virtual void set_version(int version) = 0;
  virtual void set_memory_bytes(size_t bytes) = 0;

  // The call after the next `skip` calls of `symbol` ("cuMemAlloc_v2") fails once with `code`.
  virtual void fail(const std::string& symbol, int code, int skip = 0) = 0;
  // The next kernel that runs crashes with `code`: the device is unusable until it is reset.
  virtual void crash_next_kernel(int code) = 0;
  // After the next `skip` launches of graphs, `count` launches take so much longer, as one that
  // loads its kernels does.
  virtual void delay_graphs(double us, int count = 1, int skip = 0) = 0;
  // What launches of `kernel` do.
  virtual void define_kernel(const std::string& kernel,
                             std::function<void(const Launch&)> body) = 0;
  // Bytes of each parameter of kernels that are launched with addresses of parameters, which are
  // recorded one behind the other.
  virtual void set_parameter_bytes(std::vector<size_t> bytes) = 0;

  // A context of `device` other than its primary one, as cuCtxCreate makes; not current.
  virtual void* create_context(int device) = 0;

  // Handles alive: "context" (references), "module", "stream", "event", "memory", "pinned",
  // "graph", "graph exec"; "" counts all of them.
  virtual int live(const std::string& kind = "") const = 0;
  // Every wrong use: a handle freed twice or in another context, an unbalanced pop ...
  virtual std::vector<std::string> misuses() const = 0;
  // Symbols called, in order.
  virtual std::vector<std::string> calls() const = 0;
  virtual std::vector<Launch> launches() const = 0;

 protected:
  ~FakeCuda() = default;
};

}  // namespace gemmtune::fake_cuda

// The fake driver's only export besides libcuda's: its control.
extern "C" gemmtune::fake_cuda::FakeCuda* gemmtune_fake_cuda();
