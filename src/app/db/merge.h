#pragma once

#include <string>
#include <vector>

#include "app/common/services.h"

namespace gemmtune::cli {

struct MergedDatabase {
  std::string file;
  store::MergeCounts counts;
};

// Takes what other databases know into this one, which is created where there is none. They are
// opened, for reading, before anything is written; a usage error names one that cannot be. Each is
// merged in one transaction, and merging again changes nothing.
Expected<std::vector<MergedDatabase>> run_db_merge(const Context& context,
                                                   const std::vector<std::string>& files);

std::string merge_text(const std::vector<MergedDatabase>& merged);
std::string merge_json(const std::vector<MergedDatabase>& merged);

}  // namespace gemmtune::cli
