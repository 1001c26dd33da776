#include "fake_cuda_state.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace gemmtune::fake_cuda {

State& state() {
  static State instance;
  return instance;
}

State::State() {
  const char* const list = std::getenv("GEMMTUNE_FAKE_GPUS");
  std::istringstream text(list == nullptr ? "" : list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  devices.resize(names.size());
}

void State::reset(int device_count) {
  const std::lock_guard lock(mutex);
  version = 13000;
  memory_bytes = size_t{8} << 30;
  parameter_bytes.clear();
  devices.assign(static_cast<size_t>(device_count), {});
  names.clear();
  objects.clear();
  functions.clear();
  now_us = graph_delay_us = 0;
  graphs_delayed = graphs_before = 0;
  initialised = false;
  ++epoch_;
  crash_ = CUDA_SUCCESS;
  failures_.clear();
  kernels_.clear();
  misuses_.clear();
  calls_.clear();
  launches_.clear();
}

void State::set_version(int value) {
  const std::lock_guard lock(mutex);
  version = value;
}

void State::set_memory_bytes(size_t bytes) {
  const std::lock_guard lock(mutex);
  memory_bytes = bytes;
}

void State::fail(const std::string& symbol, int code, int skip) {
  const std::lock_guard lock(mutex);
  failures_.push_back({symbol, skip, static_cast<CUresult>(code)});
}

void State::crash_next_kernel(int code) {
  const std::lock_guard lock(mutex);
  crash_ = static_cast<CUresult>(code);
}

void State::delay_graphs(double us, int count, int skip) {
  const std::lock_guard lock(mutex);
  graph_delay_us = us;
  graphs_delayed = count;
  graphs_before = skip;
}

double State::next_graph_delay_us() {
  if (graphs_before > 0) {
    --graphs_before;
    return 0;
  }
  if (graphs_delayed == 0) return 0;
  --graphs_delayed;
  return graph_delay_us;
}

void State::define_kernel(const std::string& kernel, std::function<void(const Launch&)> body) {
  const std::lock_guard lock(mutex);
  kernels_[kernel] = std::move(body);
}

int State::live(const std::string& kind) const {
  const std::lock_guard lock(mutex);
  int count = 0;
  if (kind.empty() || kind == "context") {
    for (const DeviceState& device : devices) count += device.references;
  }
  for (const auto& [handle, object] : objects) {
    if (kind.empty() || object.kind == kind) ++count;
  }
  return count;
}

std::vector<std::string> State::misuses() const {
  const std::lock_guard lock(mutex);
  return misuses_;
}

std::vector<std::string> State::calls() const {
  const std::lock_guard lock(mutex);
  return calls_;
}

std::vector<Launch> State::launches() const {
  const std::lock_guard lock(mutex);
  return launches_;
}

void State::set_parameter_bytes(std::vector<size_t> bytes) {
  const std::lock_guard lock(mutex);
  parameter_bytes = std::move(bytes);
}

std::optional<CUresult> State::arrive(const char* symbol) {
  calls_.emplace_back(symbol);
  for (auto failure = failures_.begin(); failure != failures_.end(); ++failure) {
    if (failure->symbol != symbol) continue;
    if (failure->skip-- > 0) continue;
    const CUresult code = failure->code;
    failures_.erase(failure);
    // As in the driver, a capture that fails to end is over all the same.
    if (std::string_view(symbol) == "cuStreamEndCapture") end_captures();
    return code;
  }
  return {};
}

std::vector<uintptr_t>& State::stack() {
  thread_local std::vector<uintptr_t> contexts;
  thread_local int epoch = 0;
  if (epoch != epoch_) contexts.clear();
  epoch = epoch_;
  return contexts;
}

CUstreamCaptureMode& State::capture_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  thread_local int epoch = 0;
  if (epoch != epoch_) mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  epoch = epoch_;
  return mode;
}

void* State::create_context(int device) {
  const std::lock_guard lock(mutex);
  auto& others = devices.at(static_cast<size_t>(device)).others;
  others.push_back(0x10000 + 0x100 * static_cast<uintptr_t>(device) + others.size());
  return reinterpret_cast<void*>(others.back());  // NOLINT(performance-no-int-to-ptr)
}

DeviceState* State::device_of_context(uintptr_t context) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceState& device) {
    return context != 0 && (device.context == context ||
                            std::count(device.others.begin(), device.others.end(), context) != 0);
  });
  return found == devices.end() ? nullptr : &*found;
}

CUresult State::current(DeviceState** device) {
  if (stack().empty() || stack().back() == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *device = device_of_context(stack().back());
  if (*device == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return (*device)->sticky;
}

uintptr_t State::add(const std::string& kind, Object object) {
  object.kind = kind;
  object.context = stack().empty() ? 0 : stack().back();
  uintptr_t handle = next_handle_ += 16;
  if (object.memory) handle = reinterpret_cast<uintptr_t>(object.memory.get());
  objects.emplace(handle, std::move(object));
  return handle;
}

Object* State::find(const std::string& kind, uintptr_t handle, bool anywhere) {
  const auto found = objects.find(handle);
  if (found == objects.end() || found->second.kind != kind) {
    misuse("use of a dead or foreign " + kind);
    return nullptr;
  }
  if (!anywhere && (stack().empty() || stack().back() != found->second.context)) {
    misuse("use of a " + kind + " outside its context");
    return nullptr;
  }
  return &found->second;
}

CUresult State::remove(const std::string& kind, uintptr_t handle) {
  if (find(kind, handle, false) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  objects.erase(handle);
  return CUDA_SUCCESS;
}

size_t State::memory_used() const {
  size_t used = 0;
  for (const auto& [handle, object] : objects) {
    if (object.kind == "memory") used += object.bytes;
  }
  return used;
}

CUresult State::enqueue(CUstream stream, Operation operation) {
  DeviceState* device = nullptr;
  if (const CUresult code = current(&device); code != CUDA_SUCCESS) return code;
  if (stream != nullptr) {
    Object* object = find("stream", reinterpret_cast<uintptr_t>(stream));
    if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (object->stream.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (object->stream.capturing) {
      object->stream.recorded.push_back(std::move(operation));
      return CUDA_SUCCESS;
    }
  }
  run(operation, stack().back());
  return CUDA_SUCCESS;
}

bool State::spoil_capture(bool unsafe) {
  if (unsafe && capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  bool spoiled = false;
  for (auto& [handle, object] : objects) {
    if (!object.stream.capturing) continue;
    if (object.stream.capturing_thread != std::this_thread::get_id()) continue;
    object.stream.invalidated = true;
    spoiled = true;
  }
  return spoiled;
}

void State::end_captures() {
  for (auto& [handle, object] : objects) {
    if (object.stream.capturing_thread == std::this_thread::get_id()) object.stream = {};
  }
}

void State::run(const Operation& operation, uintptr_t context) {
  const DeviceState* device = device_of_context(context);
  if (device == nullptr || device->sticky != CUDA_SUCCESS) return;
  running_context_ = context;
  now_us += 10;
  operation();
}

void State::run_kernel(const Launch& launch) {
  launches_.push_back(launch);
  if (crash_ != CUDA_SUCCESS) {
    device_of_context(running_context_)->sticky = std::exchange(crash_, CUDA_SUCCESS);
    return;
  }
  const auto body = kernels_.find(launch.kernel);
  if (body != kernels_.end()) body->second(launch);
}

void State::drop_context(DeviceState& device) {
  std::erase_if(objects, [&](const auto& entry) { return entry.second.context == device.context; });
  device.context = 0;
  device.sticky = CUDA_SUCCESS;
}

}  // namespace gemmtune::fake_cuda

extern "C" gemmtune::fake_cuda::FakeCuda* gemmtune_fake_cuda() {
  return &gemmtune::fake_cuda::state();
}
