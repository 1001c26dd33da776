#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/context.h"
#include "app/common/problems.h"

namespace gemmtune::app {

struct PackOptions {
  std::vector<std::string> archs;  // empty: all
  std::string device;              // a uuid or the beginning of one, or part of a name; empty: all
  ProblemOptions problem;          // without sizes: all
};

struct MissingKernel {
  std::string name;
  std::string arch;
  std::string why;
};

struct PackReport {
  int64_t bytes = 0;
  uint32_t winners = 0;                // problem, arch and device; those that lend, too
  int64_t lent = 0;                    // problems that were named and run on kernels of others
  uint32_t images = 0;                 // machine code: two a kernel, for alpha and beta of the
                                       // host or the device, or four: for a beta other than 0, too
  std::vector<MissingKernel> missing;  // packed without: the program falls back on the vendor there
};

// Hands the winners of the problems that are named, those of problems that lend them kernels where
// they have none (dispatch::decide()), and the machine code of all to `write`, as the bytes of a
// file that the runtime library serves from; see dispatch/pack_file.h. What the cache of compiled
// kernels lacks is compiled. ErrorKind::not_found if there is nothing to pack;
// ErrorKind::unsupported if there is no machine code for any kernel.
Expected<PackReport> db_pack(const Context& context, const PackOptions& options,
                             const std::function<void(std::string_view)>& write);

// `file`: where it was written to.
std::string pack_json(const PackReport& report, const std::string& file);

}  // namespace gemmtune::app
