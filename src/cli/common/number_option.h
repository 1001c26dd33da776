#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace gemmtune::cli {

// For CLI::Option::transform, one for every option that takes a number: what they refuse is wrong
// usage, and the message says what is legal. Numbers are decimal, without a plus sign.

inline constexpr int64_t kMostInt = std::numeric_limits<int>::max();

// least..most, both included.
CLI::Validator whole_number(int64_t least, int64_t most);
// Finite, above 0, at most `most`.
CLI::Validator positive_number(double most);
// Finite, 0 or more, at most `most`.
CLI::Validator number_not_negative(double most);

// Options that several commands have.
CLI::Validator candidates_number();
CLI::Validator id_number();
CLI::Validator jobs_number();
CLI::Validator seconds_number();
CLI::Validator seed_number();

}  // namespace gemmtune::cli
