#pragma once

#include <string>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/request.h"
#include "dispatch/snapshot.h"
#include "dispatch/winner.h"
#include "store/record.h"

// Snapshots and requests on a device that exists in name only.
namespace gemmtune::dispatch_test {

inline constexpr const char* kHere = "GPU-here";
inline constexpr const char* kTwin = "GPU-twin";      // of this model
inline constexpr const char* kSister = "GPU-sister";  // of this arch, with as many SMs
inline constexpr const char* kOther = "GPU-other";    // of this arch

// What a device measured of a problem.
struct Row {
  const char* uuid = kHere;
  double kernel_us = 0;  // 0: none
  double vendor_us = 0;
  std::string config = "tile_m=8 tile_n=32";
  const char* arch = "sm_90";
  store::Provenance provenance = store::Provenance::measured;
  bool stale = false;
  std::string problem = "f32/f32/ieee/ttt/512x512x512";
  const char* vendor = "rank=1 algo=2";
  const char* strategy = "naive";
  double rank_us = 0;   // 0: kernel_us
  double first_us = 0;  // of the vendor's first algorithm; 0: not measured
};

Device here();  // an H200
// As seen from it.
dispatch::Snapshot snapshot_of(const std::vector<Row>& rows);
dispatch::Target target();
dispatch::Request request_for(const std::string& problem_key);
// What a launch and the device allow for a problem at the least.
double least_us(const std::string& problem_key);
// A kernel's time for a problem, and the vendor's by the least; measured here.
Row compared_row(const std::string& problem_key, double kernel_us, double vendor_of_least,
                 const char* strategy, const std::string& tile);

// The problem whose kernel comes first, "itself" for the request's own; "cuBLASLt" where that does.
std::string lender_of(const dispatch::Snapshot& snapshot, const dispatch::Request& request);

// Of winners(), where there is but one.
dispatch::Outcome<dispatch::Winner> winner(const dispatch::Snapshot& snapshot,
                                           const dispatch::Request& request,
                                           const dispatch::Target& target);

}  // namespace gemmtune::dispatch_test
