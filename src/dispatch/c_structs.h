#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "dispatch/failure.h"
#include "dispatch/request.h"
#include "gemmtune/gemmtune.h"

// Structures of the C interface as callers hand them over.

namespace gemmtune::dispatch {

// INVALID_ARGUMENT.
inline tl::unexpected<Failure> invalid(std::string text) {
  return fail(GEMMTUNE_STATUS_INVALID_ARGUMENT, std::move(text));
}

// What take_struct() knows of a structure of the C interface.
template <class T>
struct StructForm {
  const char* name;
  const char* init;     // the macro that a caller begins with
  T initial;            // what that gives
  size_t fewest_bytes;  // up to the last field that has no default
};
inline constexpr StructForm<gemmtune_problem> kProblemForm = {
    "gemmtune_problem", "GEMMTUNE_PROBLEM_INIT", GEMMTUNE_PROBLEM_INIT,
    offsetof(gemmtune_problem, lda)};
inline constexpr StructForm<gemmtune_options> kOptionsForm = {
    "gemmtune_options", "GEMMTUNE_OPTIONS_INIT", GEMMTUNE_OPTIONS_INIT,
    offsetof(gemmtune_options, cache_dir)};
inline constexpr StructForm<gemmtune_operands> kOperandsForm = {
    "gemmtune_operands", "GEMMTUNE_OPERANDS_INIT", GEMMTUNE_OPERANDS_INIT,
    offsetof(gemmtune_operands, bias)};

// A structure of the caller's, whose header may be older or newer than this library. Fields that an
// older one lacks have their defaults. Newer ones must be zero: this library does not know what
// they ask for.
template <class T>
Outcome<T> take_struct(const T* from, const StructForm<T>& form) {
  const std::string name = form.name;
  if (from == nullptr) return invalid(name + " is a null pointer");
  const size_t bytes = from->struct_bytes;
  // Fields of 8 bytes begin at multiples of 8: none is cut.
  if (bytes < form.fewest_bytes || (bytes < sizeof(T) && bytes % alignof(T) != 0)) {
    return invalid(name + ".struct_bytes is " + std::to_string(bytes) + ", sizeof(" + name +
                   ") is needed; begin with " + form.init);
  }
  const auto* const raw = reinterpret_cast<const unsigned char*>(from);
  const size_t known = std::min(bytes, sizeof(T));
  const bool newer = std::any_of(raw + known, raw + bytes, [](unsigned char b) { return b; });
  if (newer) return invalid(name + " uses fields of a newer libgemmtune than the one loaded");
  T copy = form.initial;
  std::memcpy(&copy, from, known);
  copy.struct_bytes = sizeof(T);
  return copy;
}

// The same of a problem, as a request.
inline Outcome<Request> take_request(const gemmtune_problem* problem) {
  auto copy = take_struct(problem, kProblemForm);
  if (!copy) return tl::unexpected(copy.error());
  return parse_request(*copy);
}

}  // namespace gemmtune::dispatch
