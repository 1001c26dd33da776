#include "cli/common/terminal.h"

#include <doctest/doctest.h>

#include "../../scoped_variables.h"

namespace gemmtune::cli {

TEST_CASE("who wants no escape sequences") {
  const auto plain = [](const char* no_color, const char* term) {
    const ScopedVariables set({{"NO_COLOR", no_color}, {"TERM", term}});
    return wants_plain_terminal();
  };
  CHECK_FALSE(plain("", "xterm"));
  CHECK_FALSE(plain("", ""));
  CHECK(plain("1", "xterm"));
  CHECK(plain("", "dumb"));
}

}  // namespace gemmtune::cli
