#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gemmtune::store {

// "2025-01-31T23:59:59.123Z": sorts as text in the order of time.
std::string to_timestamp(std::chrono::system_clock::time_point time);

// Such a timestamp of a text that may end after the day, the minute or the second, and without the
// "Z". Usage error, showing the form, for anything else.
Expected<std::string> parse_timestamp(std::string_view text);

// Milliseconds since 1970, UTC.
int64_t to_unix_ms(std::chrono::system_clock::time_point time);

}  // namespace gemmtune::store
