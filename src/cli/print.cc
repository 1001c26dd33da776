#include "cli/print.h"

#include <cstdio>
#include <stdexcept>

namespace gemmtune::cli {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw std::runtime_error("cannot write to stdout");
}

}  // namespace gemmtune::cli
