#pragma once

namespace gemmtune::cli {

// Whether the environment asks for no escapes: NO_COLOR is set (no-color.org), or TERM=dumb.
bool wants_plain_terminal();

// Whether stderr is a terminal, on which a line can be drawn again.
bool redraws(bool plain_terminal);

}  // namespace gemmtune::cli
