#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gemmtune {

// Levenshtein distance between two short names.
int edit_distance(std::string_view a, std::string_view b);

// 'text' in quotes for a message of one line: control characters appear as \xNN, byte by byte.
std::string in_quotes(std::string_view text);

// Whether a text (UTF-8) has characters that a terminal obeys instead of showing them: U+0000 to
// U+001F, newlines and tabs among them, U+007F, and U+0080 to U+009F.
bool has_control_characters(std::string_view text);

// "unknown <what> '<text>'; did you mean 'x'? valid: x, y, z" with the nearest valid names first.
// `what` is a noun such as "type" or "strategy"; `valid` may hold any number of names.
std::string unknown_name_message(std::string_view what, std::string_view text,
                                 std::span<const std::string_view> valid);

// The names joined by ", ".
std::string join(std::span<const std::string_view> names, std::string_view separator = ", ");

}  // namespace gemmtune
