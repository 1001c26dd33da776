#include "app/db/info.h"

#include "app/common/environment.h"
#include "app/common/records.h"

namespace gemmtune::app {
namespace {

Expected<DatabaseInfo> describe(const Context& context, store::RecordStore& store) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  auto counts = store.info();
  if (!counts) return tl::unexpected(counts.error());
  return DatabaseInfo{location->path.string(), std::move(*counts)};
}

}  // namespace

Expected<DatabaseInfo> db_info(const Context& context) {
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  return describe(context, **store);
}

Expected<DatabaseInfo> db_check(const Context& context) {
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  if (auto checked = (*store)->check(); !checked) return tl::unexpected(checked.error());
  return describe(context, **store);
}

}  // namespace gemmtune::app
