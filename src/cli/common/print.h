#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace gemmtune::cli {

// Writes text for people, or JSON, to stdout at once, so that what a long command found is seen
// (and piped on) when it is found. Names and reasons come from databases and files that others
// wrote: what a terminal would obey instead of showing it appears as in visible(). Throws
// std::runtime_error if stdout cannot be written (a full disk, a closed pipe).
void print(std::string_view text);

// The same, byte by byte: CSV, source, machine code.
void print_exactly(std::string_view bytes);

// As print(), but false in place of an exception: for what is printed while there is more to do.
// print() fails from then on.
bool try_to_print(std::string_view text);

// Writes progress and messages. Nothing depends on them, so that a failure is ignored.
void tell(std::string_view text, std::FILE* to = stderr);

// `text` with its control characters, but newlines, as "\u001b", and what is no UTF-8 as U+FFFD. In
// JSON that is the same text, as there they only stand in strings.
std::string visible(std::string_view text);

// visible() in one line: newlines appear as "\u000a".
std::string visible_line(std::string_view text);

}  // namespace gemmtune::cli
