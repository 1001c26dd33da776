#pragma once

#include <string_view>

#include "codegen/kernel_spec.h"
#include "core/error.h"
#include "dispatch/decision.h"

namespace gemmtune::dispatch {

// The kernel of a strategy and tile for the request, if it may be used on the target: else an error
// that says why not. `capability` is that of the arch it was tuned for.
Expected<codegen::KernelSpec> usable_kernel(std::string_view strategy, std::string_view config,
                                            Arch capability, const Request& request,
                                            const Target& target);
Expected<codegen::KernelSpec> usable_kernel(const StoredKernel& stored, const Request& request,
                                            const Target& target);

// What a kernel's time for `problem` counts as beside the vendor's for it, C apart.
double counted_us(const KnownKernel& kernel, const Problem& problem, const Target& target);

Choice kernel_choice(const codegen::KernelSpec& spec, const StoredKernel& stored);
// The same of a kernel that was timed on the very problem.
Choice timed_choice(const codegen::KernelSpec& spec, const StoredKernel& stored,
                    const KnownKernel& known);

}  // namespace gemmtune::dispatch
