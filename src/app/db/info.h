#pragma once

#include <string>

#include "app/common/services.h"

namespace gemmtune::cli {

// What the database holds.
struct DatabaseInfo {
  std::string path;
  store::StoreInfo counts;
};

// Reads only. ErrorKind::not_found if there is no database.
Expected<DatabaseInfo> run_db_info(const Context& context);

// Reads and checks everything. ErrorKind::io describes the first damage.
Expected<DatabaseInfo> run_db_check(const Context& context);

std::string info_text(const DatabaseInfo& info);
std::string info_json(const DatabaseInfo& info);
std::string check_text(const DatabaseInfo& info);
std::string check_json(const DatabaseInfo& info);

}  // namespace gemmtune::cli
