#include "cli/common/number_option.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "app/tune/search.h"
#include "core/names.h"

namespace gemmtune::cli {
namespace {

constexpr int64_t kMostJobs = 1024;

template <class T>
std::optional<T> parse_exactly(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string refusal(const std::string& text, const std::string& needed) {
  return fmt::format("{} is refused; {} is needed", in_quotes(text), needed);
}

// `legal` and `needed` say the same, to the program and to the user.
template <class T, class Legal>
CLI::Validator number_check(std::string needed, Legal legal) {
  const auto check = [needed = std::move(needed), legal](std::string& text) -> std::string {
    const auto value = parse_exactly<T>(text);
    if (!value || !legal(*value)) return refusal(text, needed);
    // CLI11 would read 010 as 8.
    if constexpr (std::is_integral_v<T>) text = std::to_string(*value);
    return "";
  };
  return {check, ""};
}

template <class T>
CLI::Validator whole_number_of(T least, T most) {
  return number_check<T>(fmt::format("a whole number of at least {} and at most {}", least, most),
                         [=](T value) { return value >= least && value <= most; });
}

}  // namespace

CLI::Validator whole_number(int64_t least, int64_t most) {
  return whole_number_of<int64_t>(least, most);
}

CLI::Validator positive_number(double most) {
  return number_check<double>(fmt::format("a number above 0 and at most {}", most),
                              [=](double value) { return value > 0 && value <= most; });
}

CLI::Validator number_not_negative(double most) {
  return number_check<double>(fmt::format("a number of at least 0 and at most {}", most),
                              [=](double value) { return value >= 0 && value <= most; });
}

CLI::Validator candidates_number() {
  return whole_number(1, app::kMostCandidates);
}

CLI::Validator id_number() {
  return whole_number(1, std::numeric_limits<int64_t>::max());
}

CLI::Validator jobs_number() {
  return whole_number(1, kMostJobs);
}

CLI::Validator seconds_number() {
  return positive_number(app::kMostSeconds);
}

CLI::Validator seed_number() {
  return whole_number_of<uint64_t>(0, std::numeric_limits<uint64_t>::max());
}

}  // namespace gemmtune::cli
