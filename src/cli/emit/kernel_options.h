#pragma once

#include "app/emit/emit.h"
#include "cli/common/cli11_fwd.h"

namespace gemmtune::cli {

// --arch, --device, --strategy, --model and --tile: which kernel.
void add_kernel_options(CLI::App& command, app::EmitOptions& options);

}  // namespace gemmtune::cli
