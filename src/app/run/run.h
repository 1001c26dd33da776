#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/capture/captured.h"
#include "app/common/context.h"
#include "core/error.h"
#include "core/problem.h"
#include "cublas_preload/product_file.h"

namespace gemmtune::app {

// Which program to run, and how.
struct RunOptions {
  std::vector<std::string> program;  // with its arguments
  std::string output;                // the report as JSON; empty: no file
  std::string override;              // never, first or always; empty: as the environment says
  std::string f32;                   // a split mode; empty: as the environment says
  std::string on_miss;               // off or record; empty: as the environment says
  std::string missing;               // the suite of what was not tuned
  std::string pack;                  // in place of the database and of compiling; empty: none
  bool nondeterministic = false;     // kernels that may round differently from run to run, too
  bool no_compare = false;           // hand no calls to cuBLAS to compare the times
};

// Times of some calls of a problem on one side.
struct SampledTime {
  double median_us = 0;
  int64_t samples = 0;  // that the median is of
};

// A problem of the program, with all processes and all that differs between its calls put together.
struct RunProblem {
  Problem problem;         // canonical
  bool own = false;        // an own kernel computes it
  bool algorithm = false;  // an algorithm of cuBLASLt's that is faster than the program's does
  std::string what;        // the kernel or the algorithm; or why cuBLAS
  int64_t calls = 0;
  int64_t own_calls = 0;        // on own kernels
  int64_t algorithm_calls = 0;  // on such algorithms
  int64_t own_graph_calls = 0;  // of both, under stream capture
  // Calls that cuBLAS made as asked for all the same, by cublas_preload::Detour.
  std::array<int64_t, cublas_preload::kDetours> detours = {};
  std::optional<SampledTime> own_time;
  std::optional<SampledTime> cublas_time;
  std::optional<double> tuned_us;  // as the database has it
  std::optional<double> tuned_vendor_us;

  bool took_its_place() const { return own || algorithm; }
  // Calls on own kernels and such algorithms outside of graphs.
  int64_t comparable_calls() const { return own_calls + algorithm_calls - own_graph_calls; }
  // The time that these saved, as far as both sides were timed. May be negative.
  std::optional<double> saved_us() const;
};

struct RunReport {
  std::vector<RunProblem> problems;   // the most saved time first, then what should take longest
  std::vector<OtherProducts> others;  // that are no problem of this project
  int64_t calls_left_out = 0;
  int processes = 0;
  int exit_code = 0;    // of the program
  std::string missing;  // the suite that was written; empty: none

  int64_t calls() const;
  int64_t own_calls() const;
  int64_t algorithm_calls() const;
};

// Runs a program with own kernels in cuBLAS's place where they were measured to be faster, or with
// cuBLASLt's fastest algorithm where that is not the one that programs get. Usage errors come
// before the program starts; after that its report comes, whatever it did.
Expected<RunReport> run(const Context& context, const RunOptions& options);

// What a running process gives gemmtune_cublas_attach() of a library, to count into a folder.
struct AttachSettings {
  std::filesystem::path library;
  std::map<std::string, std::string> settings;
};

// Settings by which a running process does what run() has programs do; `options.program` is empty.
// Usage error for a `folder` that is not there. Where there is no database yet, `folder` also gets
// one with the results that come with the program: it has to stay as long as the process.
Expected<AttachSettings> attach_settings(const Context& context, const RunOptions& options,
                                         const std::string& folder);
std::string attach_json(const AttachSettings& settings);

// The report of what processes have counted in `folder` so far, that run on.
Expected<RunReport> report_of(const RunOptions& options, const std::string& folder);

// Everything of a report as JSON.
std::string run_json(const RunReport& report);

// The name of a reason for a call that cuBLAS made as asked for all the same.
std::string_view detour_name(cublas_preload::Detour detour);

}  // namespace gemmtune::app
