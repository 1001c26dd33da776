#pragma once

#include <string>

#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::tuner {

// With what kernels would be made and run now.
struct Toolchain {
  std::string compiler_version;  // NVRTC's, as in a CandidateKey
  int driver_version = 0;        // as cuDriverGetVersion gives it, e.g. 13000; 0 without a driver
};

// Marks the records of `store` that are no longer what this program would make: of a strategy or
// tile that it does not know, of another kernel source or NVRTC version, or measured under another
// major version of the driver (results without a driver hold under any). A vendor's algorithms are
// judged by the driver only. Cheap if nothing changed since the last time. Returns how many records
// changed.
Expected<int64_t> judge_records(store::RecordStore& store, const Toolchain& now);

}  // namespace gemmtune::tuner
