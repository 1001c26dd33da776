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

// `a mark b` of numbers or, where it compares, of objects.
SourceConstants::Value operated(std::string_view mark, const SourceConstants::Value& a,
                                const SourceConstants::Value& b);

// What a function returns: its body of returns, conditions, switches, and of variables of type int
// that loops change.
SourceConstants::Value evaluate_call(const Declaration& function, SourceFrame frame,
                                     const SourceConstants& constants);

// The index behind the statement that begins at `at`.
size_t statement_end(SourceTokens tokens, size_t at);

}  // namespace gemmtune::codegen
