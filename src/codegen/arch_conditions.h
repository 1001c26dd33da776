#pragma once

#include <string>
#include <string_view>

#include "core/arch.h"

namespace gemmtune::codegen {

// `source` as the preprocessor of a CUDA compiler leaves it for code of `arch`, as far as
// conditions are of __CUDA_ARCH__ alone ("#if __CUDA_ARCH__ >= 800", and the same after
// "defined(__CUDA_ARCH__) &&") or "#ifdef __CUDACC__". Others stay as they are, with what is in
// them resolved. A source with an #elif stays whole.
std::string resolve_arch_conditions(std::string_view source, Arch arch);

}  // namespace gemmtune::codegen
