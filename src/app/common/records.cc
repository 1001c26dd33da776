#include "app/common/records.h"

#include <spdlog/logger.h>

#include <filesystem>
#include <system_error>

#include "app/common/environment.h"
#include "core/names.h"
#include "store/shipped.h"

namespace gemmtune::app {
namespace {

Expected<void> merge_shipped(const Context& context, store::RecordStore& store) {
  auto shipped = store::shipped_entries();
  if (!shipped) return tl::unexpected(shipped.error());
  auto merged = store.merge(*shipped);
  if (!merged) return tl::unexpected(merged.error());
  context.log->debug("{} results that come with gemm-tune", merged->added);
  return store.update_winners();
}

// What is read where there is no default database yet.
Expected<std::unique_ptr<store::RecordStore>> shipped_records(const Context& context) {
  auto store = store::open_memory_store();
  if (!store) return store;
  if (auto merged = merge_shipped(context, **store); !merged) return tl::unexpected(merged.error());
  return store;
}

}  // namespace

Expected<std::unique_ptr<store::RecordStore>> open_records(const Context& context, bool read_only) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  std::error_code error;
  const bool is_new = location->is_default && !std::filesystem::exists(location->path, error);
  if (is_new && read_only) return shipped_records(context);
  store::StoreOptions options;
  options.path = location->path;
  options.read_only = read_only;
  options.create_directory = location->is_default && !read_only;
  auto store = store::open_store(options);
  if (!store || !is_new) return store;
  if (auto merged = merge_shipped(context, **store); !merged) return tl::unexpected(merged.error());
  return store;
}

Expected<std::unique_ptr<store::RecordStore>> open_existing_records(const Context& context) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  std::error_code error;
  if (!std::filesystem::exists(location->path, error)) {
    return make_error(ErrorKind::not_found,
                      "there is no database " + in_quotes(location->path.string()));
  }
  return open_records(context, false);
}

Expected<std::filesystem::path> database_to_read(const Context& context,
                                                 const std::filesystem::path& folder) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  store::StoreOptions options;
  options.path = location->path;
  options.read_only = true;
  std::error_code error;
  const bool shipped = location->is_default && !std::filesystem::exists(location->path, error);
  if (shipped) {
    options.path = folder / "shipped.db";
    options.read_only = false;
  }
  auto store = store::open_store(options);
  if (!store && store.error().kind == ErrorKind::not_found)
    return usage_error(store.error().message);
  if (!store) return tl::unexpected(store.error());
  if (shipped) {
    if (auto merged = merge_shipped(context, **store); !merged)
      return tl::unexpected(merged.error());
  }
  return options.path;
}

Expected<std::unique_ptr<store::RecordStore>> open_other_records(const std::string& file) {
  store::StoreOptions options;
  options.path = file;
  options.read_only = true;
  auto store = store::open_store(options);
  if (!store && store.error().kind == ErrorKind::not_found)
    return usage_error(store.error().message);
  return store;
}

}  // namespace gemmtune::app
