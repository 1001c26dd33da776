#pragma once

#include <string_view>
#include <vector>

#include "codegen/source_pruning.h"

namespace gemmtune::codegen {

// The parts with what macros without parameters stand for in their places, and without those
// macros. One that is defined twice or undefined, is in several lines, or that a directive or
// `user` names stays.
void write_out_macros(std::vector<SourcePart>& parts, std::string_view user);

}  // namespace gemmtune::codegen
