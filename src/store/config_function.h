#pragma once

#include <SQLiteCpp/Database.h>

namespace gemmtune::store {

// Gives a connection the SQL function current_config(strategy, config, arch), which migrations
// call: core/config_spelling.h for rows. Throws SQLite::Exception.
void add_config_function(SQLite::Database& database);

}  // namespace gemmtune::store
