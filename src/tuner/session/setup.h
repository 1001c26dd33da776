#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/device.h"
#include "gpu/driver.h"
#include "gpu/nvml.h"
#include "jit/compiler.h"
#include "tuner/measure/device_turns.h"
#include "tuner/measure/vendor_product.h"
#include "tuner/session/evaluator.h"
#include "tuner/session/session.h"
#include "vendor/cublaslt.h"

// What a search is made from: its request, and what all searches of a program share.
namespace gemmtune::tuner {

// What searches share, loaded once.
struct Equipment {
  std::optional<Device> device;  // that measures; none: the model predicts
  DeviceSpec limits;             // of the device, or of the model that is predicted for
  std::shared_ptr<const jit::Compiler> compiler;
  std::shared_ptr<const gpu::Driver> driver;                // null: none
  std::shared_ptr<const vendor::CublasLtLibrary> cublaslt;  // null: no baseline
  std::shared_ptr<const gpu::Nvml> nvml;                    // null: no clocks, no power
  std::shared_ptr<const DeviceTurns> turns;  // with other processes on the device; null: none
};

struct EvaluatorOptions {
  bool with_vendor = true;  // beside the vendor's algorithms, if there is the library
  float beta = 0;           // of products that are timed
  int64_t vendor_workspace_bytes = kVendorWorkspaceBytes;
  FinalRoundOptions final_round;
};

// The evaluator of what `request` tunes (its problem, cold or warm operands): on the
// device, or by the model. Usage error if the operands do not fit the device.
Expected<std::unique_ptr<Evaluator>> make_evaluator(const TuneRequest& request,
                                                    const Equipment& equipment,
                                                    const EvaluatorOptions& options = {});

// What a session of `request` needs but the evaluator, and what is optional. `command` and
// `tool_version` are for the record of the run, as are the options that decide a result.
SessionServices make_services(const TuneRequest& request, const Equipment& equipment,
                              store::RecordStore& store, std::string_view command,
                              std::string_view tool_version);

}  // namespace gemmtune::tuner
