#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_cuda.h"

namespace gemmtune::fake_cuda {

// Work that can be enqueued, or recorded in a graph. Returns what a synchronize would.
using Operation = std::function<void()>;

struct FunctionState {
  uintptr_t module = 0;
  std::string name;
  int max_dynamic_smem_bytes = 48 * 1024;
};

struct StreamState {
  bool capturing = false;
  bool invalidated = false;
  std::thread::id capturing_thread;
  std::vector<Operation> recorded;
};

// A handle alive.
struct Object {
  std::string kind;
  uintptr_t context = 0;
  std::string image;                    // module
  size_t bytes = 0;                     // memory, pinned
  std::shared_ptr<std::byte[]> memory;  // memory, pinned
  std::optional<double> recorded_us;    // event
  StreamState stream;                   // stream
  std::vector<Operation> operations;    // graph, graph exec
};

struct DeviceState {
  int references = 0;
  uintptr_t context = 0;          // the primary one
  std::vector<uintptr_t> others;  // made by create_context
  CUresult sticky = CUDA_SUCCESS;
};

struct InjectedFailure {
  std::string symbol;
  int skip = 0;
  CUresult code = CUDA_SUCCESS;
};

// All state of the fake driver. Members are guarded by `mutex`; entry() in fake_cuda_entry.h takes
// it.
class State final : public FakeCuda {
 public:
  State();
  void reset(int devices) override;
  void set_version(int value) override;
  void set_memory_bytes(size_t bytes) override;
  void fail(const std::string& symbol, int code, int skip) override;
  void crash_next_kernel(int code) override;
  void delay_graphs(double us, int count, int skip) override;
  void define_kernel(const std::string& kernel, std::function<void(const Launch&)> body) override;
  void* create_context(int device) override;
  int live(const std::string& kind) const override;
  std::vector<std::string> misuses() const override;
  std::vector<std::string> calls() const override;
  std::vector<Launch> launches() const override;
  void set_parameter_bytes(std::vector<size_t> bytes) override;

  // Notes a call; a code if an injected failure is due.
  std::optional<CUresult> arrive(const char* symbol);

  // The calling thread's stack of contexts. Those of earlier tests are dropped.
  std::vector<uintptr_t>& stack();
  // The device whose context is current and usable, else why not.
  CUresult current(DeviceState** device);
  DeviceState* device_of_context(uintptr_t context);

  uintptr_t add(const std::string& kind, Object object = {});
  // The object behind a handle of that kind; notes a misuse and returns null if there is none, or
  // if it belongs to a context other than the current one and `anywhere` is false.
  Object* find(const std::string& kind, uintptr_t handle, bool anywhere = true);
  CUresult remove(const std::string& kind, uintptr_t handle);
  void misuse(const std::string& text) { misuses_.push_back(text); }
  size_t memory_used() const;

  // Runs or records an operation.
  CUresult enqueue(CUstream stream, Operation operation);
  double next_graph_delay_us();  // counts the launch
  // True, after invalidating the capture, if the calling thread is capturing; a thread in the
  // relaxed mode may do what is only `unsafe`.
  bool spoil_capture(bool unsafe = false);
  // Of the calling thread. Those of earlier tests are dropped.
  CUstreamCaptureMode& capture_mode();
  void end_captures();  // of the calling thread
  void run(const Operation& operation, uintptr_t context);
  void run_kernel(const Launch& launch);
  void drop_context(DeviceState& device);

  mutable std::mutex mutex;
  int version = 13000;
  size_t memory_bytes = size_t{8} << 30;
  std::vector<size_t> parameter_bytes;
  std::vector<DeviceState> devices;
  std::vector<std::string> names;  // of devices; others are called by their ordinals
  std::map<uintptr_t, Object> objects;
  std::map<uintptr_t, FunctionState> functions;
  double now_us = 0;
  double graph_delay_us = 0;
  int graphs_delayed = 0;  // that are still to be, behind
  int graphs_before = 0;   // so many that are not
  unsigned long long captures = 0;
  bool initialised = false;

 private:
  uintptr_t next_handle_ = 0x1000;
  int epoch_ = 0;
  CUresult crash_ = CUDA_SUCCESS;
  uintptr_t running_context_ = 0;
  std::vector<InjectedFailure> failures_;
  std::map<std::string, std::function<void(const Launch&)>> kernels_;
  std::vector<std::string> misuses_;
  std::vector<std::string> calls_;
  std::vector<Launch> launches_;
};

State& state();

}  // namespace gemmtune::fake_cuda
