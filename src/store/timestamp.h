#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gemmtune::store {

// "2025-01-31T23:59:59.123Z": sorts as text in the order of time.
std::string to_timestamp(std::chrono::system_clock::time_point time);

// Milliseconds since 1970, UTC.
int64_t to_unix_ms(std::chrono::system_clock::time_point time);

}  // namespace gemmtune::store
