#pragma once

#include <SQLiteCpp/Database.h>

#include <string_view>

#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::store {

// Whether the database holds this set. Throws SQLite::Exception.
bool holds_shipped(SQLite::Database& database, std::string_view fingerprint);

// Writes a set in place of all results of shipped devices, within the caller's transaction. The
// winners are to be determined after. An error leaves the transaction to be rolled back. Throws
// SQLite::Exception and BadRow.
Expected<void> write_shipped(SQLite::Database& database, const ShippedResults& shipped);

// The same in a transaction of its own, where the database holds another set or none.
Expected<void> update_shipped(SQLite::Database& database, const ShippedResults& shipped);

}  // namespace gemmtune::store
