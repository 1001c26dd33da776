#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/common/context.h"
#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::app {

// The record store. `read_only` never creates a file: a missing or empty one is then
// ErrorKind::not_found, but the default one's place is taken by the results that come with the
// program. A default database that is created begins with those, and one of another version of the
// program gets them in place of that version's.
Expected<std::unique_ptr<store::RecordStore>> open_records(const Context& context, bool read_only);

// The same for writing, but of a database that has to be there: else ErrorKind::not_found.
Expected<std::unique_ptr<store::RecordStore>> open_existing_records(const Context& context);

// The file of the database, for another process to read. Where there is no default one yet, a new
// file in `folder` with the results that come with the program. ErrorKind::not_found if one that
// was named is not there, or empty.
Expected<std::filesystem::path> database_to_read(const Context& context,
                                                 const std::filesystem::path& folder);

// Another database than the command's own, named by the user, for reading. Usage error if it is
// not there.
Expected<std::unique_ptr<store::RecordStore>> open_other_records(const std::string& file);

}  // namespace gemmtune::app
