#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"

namespace gemmtune::app {

// libgemmtune_cublas.so of this installation or build, by the place of the program's own file.
// ErrorKind::unsupported, with where it was looked for, if it is not there.
Expected<std::filesystem::path> find_preload_library(const std::filesystem::path& executable);

// The value of LD_PRELOAD with `library` behind what is preloaded already. A blank or a colon would
// end its path there, so a library that has one in its path is named by a link in `folder`, which
// is to live as long as programs start. ErrorKind::unsupported where `folder` has one too, or takes
// no link.
Expected<std::string> preload_list(const std::filesystem::path& library,
                                   const std::filesystem::path& folder);

// Runs a program to its end, with stdin, stdout and stderr of this process, and with `variables` in
// place of those of their names. What it ended with: its exit code, or 128 and the signal. Ctrl-C
// is the program's while it runs; SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are handed on to it.
// ErrorKind::usage if it cannot be started. For a process without other threads or children.
Expected<int> run_program(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables);

}  // namespace gemmtune::app
