#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/capture/captured.h"
#include "app/common/context.h"
#include "core/error.h"

namespace gemmtune::app {

// What to capture, and where to.
struct CaptureOptions {
  std::vector<std::string> program;  // with its arguments; or
  std::vector<std::string> logs;     // cuBLASLt's own; or
  std::string folder;                // what processes that run have counted there so far
  std::string output;                // the suite to write
};

struct CaptureReport {
  Captured captured;
  std::string suite;  // the file that was written; empty: there is no problem to write
  int exit_code = 0;  // of the program
};

// Runs a program with libgemmtune_cublas.so preloaded, or reads logs or a folder of counts, and
// writes the problems as a suite. An error, and no file, where there is no product at all; but
// where a program failed without one, that is its report.
Expected<CaptureReport> capture(const Context& context, const CaptureOptions& options);

// Everything of a report as JSON.
std::string capture_json(const CaptureReport& report);

}  // namespace gemmtune::app
