#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/source_pruning.h"

namespace gemmtune::codegen {

// Takes from the parts' templates a parameter of each that nothing in it names, with the arguments
// that are given for it. False if there is none. Templates that `user` names, that are declared
// more than once, or whose parameter a call may have to find by itself stay as they are.
bool drop_unused_parameters(std::vector<SourcePart>& parts, std::string_view user);

// Takes from the classes of `kernel`'s constants, "constexpr Class kName{.field = value, ...}", and
// from those of their fields, the fields that the parts do not read and `notes` do not name, and
// from `kernel` their values. False if there is none.
bool drop_unread_fields(std::vector<SourcePart>& parts, std::string& kernel,
                        std::string_view notes);

}  // namespace gemmtune::codegen
