#include "cli/common/markup.h"

#include <fmt/format.h>

namespace gemmtune::cli {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_text(double x, double y, std::string_view classes, std::string_view anchor,
                     std::string_view content) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}">{}</text>)"
                     "\n",
                     x, y, classes, anchor, escaped(content));
}

}  // namespace gemmtune::cli
