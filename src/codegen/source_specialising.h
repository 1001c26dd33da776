#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/source_pruning.h"

namespace gemmtune::codegen {

struct SpecialisedSource {
  std::vector<SourcePart> parts;
  std::string kernel;
};

// keep_used(parts, kernel + notes) without what the constants of `kernel` decide: branches and
// conditions that are not taken, assertions that are decided, specialisations and overloads for
// other arguments, enumerators, template parameters and fields of constants that nobody names; and
// with the values of what is known. Where it is not certain, all stays. Compiles to the same code.
// `kernel` is the source that uses the parts, and loses the values of fields that go; `notes`,
// which need not be source, name what a host program uses.
SpecialisedSource specialised(const std::vector<SourcePart>& parts, std::string_view kernel,
                              std::string_view notes);

}  // namespace gemmtune::codegen
