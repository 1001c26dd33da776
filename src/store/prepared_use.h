#pragma once

#include <SQLiteCpp/Statement.h>

namespace gemmtune::store {

// One use of a prepared statement that others use, too: it begins without bindings, and afterwards
// the statement is reset, as one that is not at its end keeps its snapshot of the database.
class PreparedUse {
 public:
  explicit PreparedUse(SQLite::Statement& statement) : statement_(statement) {
    statement_.clearBindings();
  }
  ~PreparedUse() { statement_.tryReset(); }
  PreparedUse(const PreparedUse&) = delete;
  PreparedUse& operator=(const PreparedUse&) = delete;

 private:
  SQLite::Statement& statement_;
};

}  // namespace gemmtune::store
