#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/filter.h"
#include "app/common/problems.h"

namespace gemmtune::app {

struct QueryOptions {
  ProblemOptions problem;
  FilterOptions filter;
  bool all = false;
  bool nearest = false;
  std::vector<std::string> where;  // conditions; see where.h
};

// The best result of a problem for one target, beside the vendor's in the same job.
struct QueryResult {
  store::Record best;
  std::optional<store::Record> vendor_first;
  std::optional<store::Record> vendor_best;
};

struct QueryAnswer {
  Problem problem;
  // The same with pointers of another alignment class, where results are stored for that only.
  std::optional<Problem> borrowed_from;
  std::vector<QueryResult> results;          // one per job (arch, device, warm)
  std::vector<store::Record> candidates;     // with `all`
  std::vector<store::Neighbour> neighbours;  // with `nearest`
  DeviceNames devices;
  std::string nothing;  // what to say where all of these are empty
};

// Looks a problem up; never writes. That nothing is stored for it is an answer too.
// Conditions restrict everything but the vendor's times beside a result.
Expected<QueryAnswer> query(const Context& context, const QueryOptions& options);

std::string query_json(const QueryAnswer& answer);

}  // namespace gemmtune::app
