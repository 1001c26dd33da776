#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "gpu/function.h"
#include "gpu/handle.h"

namespace gemmtune::gpu {

// Machine code loaded into a context. Move-only; unloading waits for nothing, so no launch of its
// functions may be pending when it is destroyed.
class Module {
 public:
  // `image` is a cubin, a fatbin, or PTX text (which the driver compiles; it need not end in a
  // zero). ErrorKind::unsupported if the code is for another arch; for PTX the error carries the
  // driver's compile log.
  static Result<Module> load(std::shared_ptr<const Context> context,
                             std::span<const std::byte> image);

  // ErrorKind::not_found if there is no such extern "C" kernel.
  Result<Function> function(const std::string& name) const;

 private:
  explicit Module(Handle<CUmodule, &DriverApi::module_unload> handle)
      : handle_(std::move(handle)) {}

  Handle<CUmodule, &DriverApi::module_unload> handle_;
};

}  // namespace gemmtune::gpu
