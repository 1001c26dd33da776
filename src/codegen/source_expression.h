#pragma once

#include <map>
#include <string_view>

#include "codegen/source_constants.h"

namespace gemmtune::codegen {

// Values of a function's parameters, by their names.
using SourceFrame = std::map<std::string_view, SourceConstants::Value>;

// The value of a constant expression of numbers. Nothing where it is not understood, or needs what
// is not known; a condition of several parts is known where one of them decides it.
SourceConstants::Value evaluate(SourceTokens expression, const Declaration* scope,
                                const SourceConstants& constants, const SourceFrame& frame = {});

// What a function returns: its body of returns, conditions and switches.
SourceConstants::Value evaluate_call(const Declaration& function, const SourceFrame& frame,
                                     const SourceConstants& constants);

// The index behind the statement that begins at `at`.
size_t statement_end(SourceTokens tokens, size_t at);

}  // namespace gemmtune::codegen
