#pragma once

#include <memory>

#include "app/common/context.h"
#include "app/common/target.h"
#include "core/error.h"
#include "gpu/nvml.h"
#include "jit/compiler.h"
#include "tuner/session/evaluator.h"
#include "vendor/cublaslt.h"

namespace gemmtune::app {

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

}  // namespace gemmtune::app
