#pragma once

#include <string>
#include <vector>

#include "codegen/kernel_source.h"
#include "codegen/kernel_spec.h"
#include "codegen/launch_plan.h"
#include "core/arch.h"

namespace gemmtune::codegen {

// The translation unit of one kernel, for NVRTC: it includes the strategy's template (headers
// travel with the source), names the tile, asserts that host and device agree on threads and shared
// memory, and defines one extern "C" kernel called kernel_name(spec).
KernelSource emit(const KernelSpec& spec);

// The plan that launch_notes() is given for such a file, of a problem that agrees with the kernel:
// its formulas hold for every problem; with one tile and a long k it has all launches.
LaunchPlan noted_plan(const KernelSpec& spec);

// The same kernel as one file, with what it uses of the parts inlined, to be pasted into another
// project: it needs nothing but a CUDA compiler in C++20 mode. Begins with a comment that says how
// to compile it, for spec.arch, and how to launch it. `swapped`: it is for a product with a
// column-major C, of whose transpose the kernel is, which the comment says.
std::string emit_standalone(const KernelSpec& spec, bool swapped = false);

// The type's name in the kernels, e.g. "gemmtune::kF16" (parts/shared/element_types.h).
std::string_view element_type(DataType type);

// The same of the parts of an epilogue, e.g. "gemmtune::kSilu" (parts/shared/epilogue.h).
std::string_view bias_name(Bias bias);
std::string_view activation_name(Activation activation);
std::string_view scale_name(Scale scale);

// A template of kernels_templates/ and what it includes, each behind what it includes itself, under
// the names that they are included by.
std::vector<SourceHeader> headers_of(const std::string& path);

// The text of a template or part by its path in kernels_templates/, e.g. "parts/shared/raster.h";
// empty if there is none.
std::string_view template_text(std::string_view path);

}  // namespace gemmtune::codegen
