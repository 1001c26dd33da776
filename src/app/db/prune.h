#pragma once

#include <optional>
#include <string>

#include "app/common/context.h"
#include "store/record_store.h"

namespace gemmtune::app {

// As typed; at least one criterion.
struct PruneOptions {
  bool stale = false;
  bool failures = false;
  std::optional<int> keep;  // measurements of a candidate
  std::string not_since;    // "2025-01-31" or longer; empty: not asked
  bool dry_run = false;
};

struct PruneReport {
  store::PruneCounts counts;
  int64_t candidates_before = 0;
  int64_t measurements_before = 0;
  bool dry_run = false;
};

// Removes what the options say; the best of each job stays. Usage error without a criterion;
// ErrorKind::not_found if there is no database.
Expected<PruneReport> db_prune(const Context& context, const PruneOptions& options);

std::string prune_json(const PruneReport& report);

}  // namespace gemmtune::app
