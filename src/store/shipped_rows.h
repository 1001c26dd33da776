#pragma once

#include <SQLiteCpp/Database.h>

#include <string_view>

#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::store {

// Whether the database holds this set. Throws SQLite::Exception.
bool holds_shipped(SQLite::Database& database, std::string_view fingerprint);

// Says that it does. Throws SQLite::Exception.
void set_shipped(SQLite::Database& database, std::string_view fingerprint);

// Where the database holds another set or none, writes this one in place of all results of shipped
// devices, in a transaction of its own. The winners are to be determined after. Throws
// SQLite::Exception and BadRow.
Expected<void> update_shipped(SQLite::Database& database, const ShippedResults& shipped);

}  // namespace gemmtune::store
