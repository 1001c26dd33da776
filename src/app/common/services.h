#pragma once

#include <spdlog/fwd.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/environment.h"
#include "core/device.h"
#include "gpu/driver.h"
#include "gpu/nvml.h"
#include "jit/compiler.h"
#include "store/record_store.h"
#include "tuner/session/evaluator.h"
#include "vendor/cublaslt.h"

namespace gemmtune::cli {

// What every command gets: the environment, the options all commands share, and the log on stderr.
struct Context {
  Environment environment;
  CommonOptions options;
  std::shared_ptr<spdlog::logger> log;
};

// NVRTC behind the cache; ErrorKind::unsupported if there is none. A cache that cannot be written
// is one warning in the log.
Expected<std::shared_ptr<const jit::Compiler>> load_compiler(const Context& context);

// Keeps the folder of compiled kernels within jit::kDefaultCacheBytes: the least recently used go.
// For the end of a command that compiles many; a failure is a warning in the log.
void prune_cache(const Context& context, const jit::Compiler& compiler);

// The record store. `read_only` never creates a file: a missing one is then ErrorKind::not_found,
// but the default one's place is taken by the results that come with the program. A default
// database that is created begins with those.
Expected<std::unique_ptr<store::RecordStore>> open_records(const Context& context, bool read_only);

// The same for writing, but of a database that has to be there: else ErrorKind::not_found.
Expected<std::unique_ptr<store::RecordStore>> open_existing_records(const Context& context);

// Another database than the command's own, named by the user, for reading. Usage error if it is
// not there.
Expected<std::unique_ptr<store::RecordStore>> open_other_records(const std::string& file);

// The GPUs of this machine; empty without a driver.
struct Machine {
  std::shared_ptr<const gpu::Driver> driver;  // null: none
  std::string why_no_driver;
  std::vector<Device> devices;
};
Machine find_machine(const Context& context);

// What the user asked to tune for.
struct TargetOptions {
  std::string arch;           // --arch; empty: the device's
  std::optional<int> device;  // --device, an ordinal
  std::string model = {};     // --model, a known GPU model: predict for it; empty: as is best here
};

// What is tuned for: an arch, the limits that code for it has to keep, and the device to measure
// on, if there is one that runs it.
struct Target {
  Arch arch;
  std::optional<Device> device;
  DeviceSpec limits;         // without a device those of the model that is predicted for
  bool model_named = false;  // by --model
};

// With --arch: the first device that runs it (an exact match first), or none; with --device: that
// one. Without --arch the device's own. With --model no device, and the model's arch. Usage error
// if there is none of them, or if they do not fit.
Expected<Target> choose_target(const TargetOptions& options, const Machine& machine);

// Everything an evaluator on a device is made from, loaded once a command.
struct VendorLibraries {
  std::shared_ptr<const vendor::CublasLtLibrary> cublaslt;  // null: none
  std::shared_ptr<const gpu::Nvml> nvml;                    // null: none
};
// What is missing is a warning in the log.
VendorLibraries load_vendor_libraries(const Context& context);

// The evaluator of one problem: on target.device, or by the model. Usage error if the operands do
// not fit the device.
Expected<std::unique_ptr<tuner::Evaluator>> make_evaluator(
    const Machine& machine, const Target& target, const VendorLibraries& libraries,
    std::shared_ptr<const jit::Compiler> compiler, const Problem& problem, bool warm);

// Usage error, saying how much is needed, if the operands of `problem` exceed the memory of the
// device that `target` stands for.
Expected<void> check_operands_fit(const Problem& problem, const Target& target);

}  // namespace gemmtune::cli
