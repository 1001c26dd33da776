#pragma once

#include <functional>

#include "app/common/context.h"
#include "app/common/environment.h"
#include "cli/common/cli11_fwd.h"
#include "core/error.h"

namespace gemmtune::cli {

// Options that every command has.
struct CommonOptions {
  app::Places places;
  bool json = false;
  int verbosity = 0;  // -v: more on stderr; -q: less
  int exit_code = 0;  // of a command that was done: that of the program that it ran
};

// What every command gets: what the functions of src/app take, and how to show what they return.
struct Context : app::Context {
  bool json = false;
  int verbosity = 0;
  bool plain_terminal = false;  // no escapes
};

// What a parsed command line does: computes, and prints to stdout. A family's header declares what
// adds its commands: a function that takes the parent, which gets a subcommand, `common`, whose
// options all commands share, and `action`, which is set when the subcommand is chosen. All outlive
// the parsing.
using Action = std::function<Expected<void>(const Context&)>;

}  // namespace gemmtune::cli
