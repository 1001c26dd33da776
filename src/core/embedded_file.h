#pragma once

#include <string_view>

namespace gemmtune::embedded {

// A text file compiled into the binary by gemmtune_embed (cmake/Embed.cmake).
struct File {
  std::string_view path;  // relative to the folder it was embedded from
  std::string_view text;
};

}  // namespace gemmtune::embedded
