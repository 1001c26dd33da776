#pragma once

#include <string>
#include <string_view>

namespace gemmtune::codegen {

// How a source that has been made shorter is laid out, so that it is read as if it had been written
// so. What it says to a compiler stays.

// The comment that a part begins with, cut to what it says first: its first sentence, or the first
// paragraph where a colon ends it, with the picture that this announces and the end of the sentence
// behind that. The rest is of the template: of other types, other files.
std::string with_short_head(std::string_view part);

// Joins the lines of a statement, a template's parameters and what they are of, and functions,
// classes and enumerations of one thing, where they fit into a line. Empty lines go behind a
// bracket that opens and before one that closes.
std::string with_joined_lines(std::string_view source);

// Puts a comment of one line that stands alone behind a title, "// ---- part.h ----", into its
// line.
std::string with_joined_titles(std::string_view source);

// Fills lines with the fields of an object, ".name = value,", of which each has a line.
std::string with_filled_lists(std::string_view source);

}  // namespace gemmtune::codegen
