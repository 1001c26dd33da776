#pragma once

#include <string>
#include <vector>

#include "app/db/export.h"
#include "app/db/import.h"
#include "app/db/info.h"
#include "app/db/merge.h"
#include "app/db/pack.h"
#include "app/db/prune.h"
#include "app/db/upgrade.h"

namespace gemmtune::cli {

// Reports of the db commands. `file`: the name that the user gave; "-" is stdin or stdout.

std::string info_text(const app::DatabaseInfo& info);
std::string check_text(const app::DatabaseInfo& info);
std::string upgrade_text(const app::UpgradeReport& report);
std::string export_text(const app::ExportCounts& counts, const std::string& file);
std::string import_text(const app::ImportReport& report);
// Of the bad lines: the first ones and how many more there are, for stderr; empty for none.
std::string bad_lines_text(const app::ImportReport& report, const std::string& file);
std::string merge_text(const std::vector<app::MergedDatabase>& merged);
std::string prune_text(const app::PruneReport& report);
std::string pack_text(const app::PackReport& report, const std::string& file);

}  // namespace gemmtune::cli
