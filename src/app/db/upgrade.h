#pragma once

#include <optional>
#include <string>

#include "app/common/context.h"

namespace gemmtune::app {

struct UpgradeReport {
  std::string path;
  int schema_version = 0;            // now
  std::optional<int> upgraded_from;  // nothing: it had that version before
};

// Brings the database to this program's schema version. ErrorKind::not_found if there is none; a
// file that is refused is unchanged.
Expected<UpgradeReport> db_upgrade(const Context& context);

std::string upgrade_json(const UpgradeReport& report);

}  // namespace gemmtune::app
