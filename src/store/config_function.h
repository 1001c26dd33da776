#pragma once

#include <SQLiteCpp/Database.h>

namespace gemmtune::store {

// Gives a connection the SQL functions current_config(strategy, config, arch) and
// current_config(strategy, config), which migrations call: core/config_spelling.h for rows. Throws
// SQLite::Exception.
void add_config_function(SQLite::Database& database);

}  // namespace gemmtune::store
