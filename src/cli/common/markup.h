#pragma once

#include <string>
#include <string_view>

namespace gemmtune::cli {

// For text and quoted attributes of HTML and SVG.
std::string escaped(std::string_view text);

// A text of SVG, on a line of its own; `anchor` as of text-anchor.
std::string svg_text(double x, double y, std::string_view classes, std::string_view anchor,
                     std::string_view content);

}  // namespace gemmtune::cli
