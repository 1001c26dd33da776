#include "core/names.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gemmtune {
namespace {

// Bytes of the control character that the text begins with; 0: it begins with none.
size_t control_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  return byte(0) == 0xc2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;
}

}  // namespace

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
  while (!text.empty()) {
    const size_t control = control_size(text);
    for (const char letter : text.substr(0, control)) {
      const auto byte = static_cast<unsigned char>(letter);
      result.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
    }
    if (control == 0) result += text.front();
    text.remove_prefix(std::max<size_t>(1, control));
  }
  return result + "'";
}

bool has_control_characters(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(1)) {
    if (control_size(text) > 0) return true;
  }
  return false;
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
