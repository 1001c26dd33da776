#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "core/device.h"
#include "core/error.h"
#include "core/problem.h"
#include "gpu/driver.h"

namespace gemmtune::app {

// The GPUs of this machine; empty without a driver.
struct Machine {
  std::shared_ptr<const gpu::Driver> driver;  // null: none
  std::string why_no_driver;
  std::vector<Device> devices;
};
Machine find_machine(const Context& context);

// The newest arch that there is code for and that runs on `device`; architecture-specific code only
// on request. ErrorKind::unsupported if there is none.
Expected<Arch> own_arch(const Device& device);

// What the user asked to tune for.
struct TargetOptions {
  std::string arch;           // --arch; empty: the device's
  std::optional<int> device;  // --device, an ordinal
  std::string model = {};     // --model, a known GPU model: predict for it; empty: as is best here
  std::string devices = {};  // --devices, "0,1" or "all": measure on several at once; empty: on one
};

// What is tuned for: a compute capability, the limits that code for it has to keep, and the device
// to measure on, if there is one that runs it.
struct Target {
  Arch arch;
  std::optional<Device> device;
  DeviceSpec limits;         // without a device those of the model that is predicted for
  bool model_named = false;  // by --model
  // Where several processes measure, the device of each, of one model; `device` is first.
  std::vector<Device> devices;

  // The device of each process that measures; none where nothing is measured.
  std::vector<Device> measuring() const;
};

// With --devices: those, of which each has to do. With --arch: the first device that runs it (an
// exact match first), or none; with --device: that one. Without --arch the device's own. With
// --model no device, and the model's arch. Usage error if there is none of them, or if they do not
// fit.
Expected<Target> choose_target(const TargetOptions& options, const Machine& machine);

// Usage error, saying how much is needed, if the operands of `problem` exceed the memory of the
// device that `target` stands for.
Expected<void> check_operands_fit(const Problem& problem, const Target& target);

// Whether anything is measured, and on what: one line, ended by a newline.
std::string target_line(const Target& target);

}  // namespace gemmtune::app
