#include "store/timestamp.h"

#include <fmt/format.h>

#include "core/names.h"

namespace gemmtune::store {
namespace {

constexpr std::string_view kEarliest = "0000-01-01T00:00:00.000Z";

// Whether a text of digits and separators as in kEarliest names a moment of the calendar.
bool exists(std::string_view text) {
  const auto number = [&](size_t at, size_t size) {
    unsigned value = 0;
    for (const char digit : text.substr(at, size))
      value = 10 * value + static_cast<unsigned>(digit - '0');
    return value;
  };
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number(0, 4))),
                                         std::chrono::month(number(5, 2)),
                                         std::chrono::day(number(8, 2)));
  return date.ok() && number(11, 2) < 24 && number(14, 2) < 60 && number(17, 2) < 60;
}

bool has_form(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit_wanted = kEarliest[i] >= '0' && kEarliest[i] <= '9';
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit_wanted ? !digit : text[i] != kEarliest[i]) return false;
  }
  return true;
}

}  // namespace

Expected<std::string> parse_timestamp(std::string_view text) {
  std::string_view given = text;
  if (given.ends_with('Z')) given.remove_suffix(1);
  const size_t size = given.size();
  constexpr size_t kDay = 10;
  constexpr size_t kMinute = 16;
  constexpr size_t kSecond = 19;
  constexpr size_t kMillisecond = 23;
  const bool whole = size == kDay || size == kMinute || size == kSecond || size == kMillisecond;
  if (whole && has_form(given)) {
    std::string time(given);
    time += kEarliest.substr(size);
    if (exists(time)) return time;
  }
  return usage_error(in_quotes(text) + " is no time; 2025-01-31 or 2025-01-31T23:59:59Z (UTC) is");
}

std::string to_timestamp(std::chrono::system_clock::time_point time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

int64_t to_unix_ms(std::chrono::system_clock::time_point time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace gemmtune::store
