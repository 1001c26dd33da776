#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>

#include "store/exchange.h"
#include "store/record_loader.h"

namespace gemmtune::store {

// Reads entries. Of many, one loader reads all, as with RecordLoader. Functions throw
// SQLite::Exception, and BadRow for what this program does not write.
class EntryLoader {
 public:
  explicit EntryLoader(SQLite::Database& database);

  // Nothing where no candidate has the id.
  std::optional<Entry> load(int64_t id);

  std::optional<StoredDevice> device(const std::string& uuid);

 private:
  RecordLoader records_;
  SQLite::Statement run_;
  SQLite::Statement device_;
  SQLite::Statement timings_;
};

}  // namespace gemmtune::store
