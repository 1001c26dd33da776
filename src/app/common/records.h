#pragma once

#include <memory>
#include <string>

#include "app/common/context.h"
#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::app {

// The record store. `read_only` never creates a file: a missing one is then ErrorKind::not_found,
// but the default one's place is taken by the results that come with the program. A default
// database that is created begins with those.
Expected<std::unique_ptr<store::RecordStore>> open_records(const Context& context, bool read_only);

// The same for writing, but of a database that has to be there: else ErrorKind::not_found.
Expected<std::unique_ptr<store::RecordStore>> open_existing_records(const Context& context);

// Another database than the command's own, named by the user, for reading. Usage error if it is
// not there.
Expected<std::unique_ptr<store::RecordStore>> open_other_records(const std::string& file);

}  // namespace gemmtune::app
