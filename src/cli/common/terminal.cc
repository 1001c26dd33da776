#include "cli/common/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace gemmtune::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool wants_plain_terminal() {
  return !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
}

bool redraws(bool plain_terminal) {
  return isatty(STDERR_FILENO) == 1 && !plain_terminal;
}

}  // namespace gemmtune::cli
