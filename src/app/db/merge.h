#pragma once

#include <string>
#include <vector>

#include "app/common/context.h"
#include "store/record_store.h"

namespace gemmtune::app {

struct MergedDatabase {
  std::string file;
  store::MergeCounts counts;
};

// Takes what other databases know into this one, which is created where there is none. They are
// opened, for reading, before anything is written; a usage error names one that cannot be. Each is
// merged in one transaction, and merging again changes nothing.
Expected<std::vector<MergedDatabase>> db_merge(const Context& context,
                                               const std::vector<std::string>& files);

std::string merge_json(const std::vector<MergedDatabase>& merged);

}  // namespace gemmtune::app
