#pragma once

#include <vector>

#include "codegen/source_constants.h"
#include "codegen/source_edits.h"

namespace gemmtune::codegen {

// Writes what is known of the expressions in a declaration, but not in its members: numbers in the
// places of calls and of what constructors have computed, the chosen side of "a ? b : c", and the
// type that a class has an alias of.
void write_known_values(const Declaration& declaration, const SourceConstants& constants,
                        EditedText& text);

// Whether "==" or "!=" may stand between objects of classes: false where a number, or what is
// declared as a number only, stands beside each.
bool may_compare_objects(const std::vector<std::vector<SourceToken>>& sources);

}  // namespace gemmtune::codegen
