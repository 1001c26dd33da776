#include "app/db/upgrade.h"

#include "app/common/environment.h"
#include "app/common/records.h"

namespace gemmtune::app {

Expected<UpgradeReport> db_upgrade(const Context& context) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  const auto before = store::older_schema(location->path);
  if (!before) {
    // Nothing to upgrade, or nothing there: a file that is empty is not filled.
    if (auto read = open_records(context, true); !read) return tl::unexpected(read.error());
  }
  auto store = open_existing_records(context);
  if (!store) return tl::unexpected(store.error());
  return UpgradeReport{location->path.string(), store::schema_version(), before};
}

}  // namespace gemmtune::app
