#pragma once

#include <string>
#include <string_view>

namespace gemmtune::cli {

// For text and quoted attributes of HTML and SVG.
std::string escaped(std::string_view text);

}  // namespace gemmtune::cli
