#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "core/launch_config.h"
#include "gpu/context.h"

namespace gemmtune::gpu {

// What the driver says of a loaded kernel.
struct FunctionAttributes {
  int registers = 0;          // a thread
  int local_bytes = 0;        // a thread: spills and local arrays
  int static_smem_bytes = 0;  // a block
  int max_threads_per_block = 0;
  int max_dynamic_smem_bytes = 0;  // allowed now; raised by set_max_dynamic_smem
  int binary_arch = 0;             // 80 for code that was built for sm_80
};

// A kernel of a Module. A plain reference: copyable, valid as long as its Module. Thread-safe.
class Function {
 public:
  Result<FunctionAttributes> attributes() const;

  // Allows launches with up to `bytes` of dynamic shared memory; needed above 48 KiB.
  Result<void> set_max_dynamic_smem(int bytes) const;

  // Blocks of `threads` threads and `dynamic_smem_bytes` that fit one SM at a time; 0 if none does.
  Result<int> blocks_per_sm(int threads, int dynamic_smem_bytes) const;
  // Clusters of the launch that fit the whole device at a time.
  Result<int> max_active_clusters(const LaunchConfig& config) const;

  // Enqueues the kernel on `stream`; needs the context current. `arguments` is the kernel's
  // one parameter, or nothing, and is copied before the call returns. Legal under stream capture.
  // Success means enqueued: what goes wrong while it runs is reported by the next synchronizing
  // call.
  Result<void> launch_raw(const LaunchConfig& config, CUstream stream,
                          std::span<const std::byte> arguments) const;

  // The same for any parameters, given by their addresses, one each: where those behind the first
  // lie in the parameter block is the assembler's choice (tensor maps are aligned as addresses of
  // constant memory, not as offsets), which the driver knows.
  Result<void> launch_parameters(const LaunchConfig& config, CUstream stream,
                                 std::span<void* const> parameters) const;

  // The same for a kernel with one parameter, passed by value.
  template <class Arguments>
  Result<void> launch(const LaunchConfig& config, CUstream stream,
                      const Arguments& arguments) const {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    return launch_raw(config, stream, std::as_bytes(std::span<const Arguments, 1>(&arguments, 1)));
  }

  CUfunction handle() const { return handle_; }
  const Driver& driver() const { return context_->driver(); }

 private:
  friend class Module;
  Function(std::shared_ptr<const Context> context, CUfunction handle)
      : context_(std::move(context)), handle_(handle) {}
  Result<int> attribute(CUfunction_attribute attribute) const;

  std::shared_ptr<const Context> context_;
  CUfunction handle_;
};

}  // namespace gemmtune::gpu
