#pragma once

#include <string>

#include "app/common/context.h"
#include "store/record_store.h"

namespace gemmtune::app {

// What the database holds.
struct DatabaseInfo {
  std::string path;
  store::StoreInfo counts;
};

// Reads only. ErrorKind::not_found if there is no database.
Expected<DatabaseInfo> db_info(const Context& context);

// Reads and checks everything. ErrorKind::io describes the first damage.
Expected<DatabaseInfo> db_check(const Context& context);

std::string info_json(const DatabaseInfo& info);
std::string check_json(const DatabaseInfo& info);

}  // namespace gemmtune::app
