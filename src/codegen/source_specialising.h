#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/source_pruning.h"

namespace gemmtune::codegen {

// keep_used(parts, kernel + notes) without what the constants of `kernel` decide: branches of `if
// constexpr` that are not taken, assertions that hold, specialisations and overloads for other
// arguments, enumerators that nobody names. Where it is not certain, all stays. Compiles to the
// same code. `kernel` is the source that uses the parts; `notes`, which need not be source, name
// what a host program uses.
std::vector<SourcePart> specialised(const std::vector<SourcePart>& parts, std::string_view kernel,
                                    std::string_view notes);

}  // namespace gemmtune::codegen
