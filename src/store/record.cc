#include "store/record.h"

#include <array>

#include "core/names.h"

namespace gemmtune::store {
namespace {

// In the order of the enumerators; the same names stand in the store's tables.
constexpr std::array<std::string_view, 3> kProvenances = {"measured", "transferred", "predicted"};
constexpr std::array<std::string_view, 11> kOutcomes = {
    "ok",      "vendor",       "eliminated_early", "not_run",   "compile_failed", "illegal",
    "spilled", "wrong_result", "out_of_bounds",    "unwritten", "launch_failed"};

template <class T, size_t N>
Expected<T> parse_name(std::string_view what, std::string_view text,
                       const std::array<std::string_view, N>& names) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<T>(i);
  }
  return usage_error(unknown_name_message(what, text, names));
}

}  // namespace

std::string_view to_string(Provenance provenance) {
  return kProvenances[static_cast<size_t>(provenance)];
}

std::string_view to_string(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}

Expected<Provenance> parse_provenance(std::string_view text) {
  return parse_name<Provenance>("provenance", text, kProvenances);
}

Expected<Outcome> parse_outcome(std::string_view text) {
  return parse_name<Outcome>("outcome", text, kOutcomes);
}

std::optional<double> time_us(const Record& record) {
  return record.measurement ? std::optional(record.measurement->median_us) : record.predicted_us;
}

}  // namespace gemmtune::store
