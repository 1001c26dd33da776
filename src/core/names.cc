#include "core/names.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gemmtune {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string join(std::span<const std::string_view> names, std::string_view separator) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

std::string in_quotes(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "'";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == 0x7f) {
      result.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
    } else {
      result += letter;
    }
  }
  return result + "'";
}

std::string unknown_name_message(std::string_view what, std::string_view text,
                                 std::span<const std::string_view> valid) {
  std::vector<std::string_view> sorted(valid.begin(), valid.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(text, a) < edit_distance(text, b);
  });
  std::string message = "unknown ";
  message.append(what).append(" ").append(in_quotes(text)).append("; ");
  if (!sorted.empty() && edit_distance(text, sorted.front()) <= 2) {
    message.append("did you mean '").append(sorted.front()).append("'? ");
  }
  return message.append("valid: ").append(join(sorted));
}

}  // namespace gemmtune
